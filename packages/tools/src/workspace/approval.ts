/** Says which calls wait for a person: always, never, or by its input. A predicate that throws means yes. */
export type Approval<Input> = boolean | ((input: Input) => boolean | Promise<boolean>)
