/** Calls that wait for a person's approval: all, none, or those for which a function of the input returns true. If it throws, the call waits. */
export type Approval<Input> = boolean | ((input: Input) => boolean | Promise<boolean>)
