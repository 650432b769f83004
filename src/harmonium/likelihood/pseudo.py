def log_pseudolikelihood(machine, visible):
    x = visible[0]
    return -machine.free_energy((x, None))
