/** Capability of a server that begins a task once, even if it is requested repeatedly with the same value of this key in `_meta`. */
export const beganOnce = 'escapement/began-once'
