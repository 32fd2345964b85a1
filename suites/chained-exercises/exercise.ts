/** A fact that was told earlier, in the order in which the expression captures it. */
export interface Fact {
  readonly find: RegExp
  /** How it is looked for once it is out of sight. */
  readonly query: string
  /** What a model makes up that knows it no longer. */
  readonly guess: readonly string[]
}

/** An exercise as the embedded model does it. */
export interface Exercise {
  readonly file: string
  /** What it asks the colleague first. */
  readonly asks?: string
  readonly needs?: Fact
  solution(facts: readonly string[]): string
  /** What it writes wrong in some trials: this, and that in its place. */
  readonly slip: readonly [right: string, wrong: string]
}
