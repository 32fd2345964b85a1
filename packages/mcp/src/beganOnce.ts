/** Capability of a server that begins a task once, however often it is told to with the same value of this in `_meta`. */
export const beganOnce = 'escapement/began-once'
