/** A fact that was told earlier, in the order in which the expression captures it. */
export interface Fact {
  readonly find: RegExp
  /** How it is looked for once it is out of sight. */
  readonly query: string
  /** Values that a model makes up when it no longer knows them. */
  readonly guess: readonly string[]
}

/** An exercise as the embedded model does it. */
export interface Exercise {
  readonly file: string
  /** Question to the colleague that comes first. */
  readonly asks?: string
  readonly needs?: Fact
  solution(facts: readonly string[]): string
  /** Mistake it writes in some trials: this, and that in its place. */
  readonly slip: readonly [right: string, wrong: string]
}
