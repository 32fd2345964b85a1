/** A skill as its front matter describes it. */
export interface Skill {
  /** Name of the skill's folder: 1 to 64 lower-case letters, digits and single hyphens. */
  readonly name: string
  /** Purpose of the skill and when to use it: 1 to 1,024 characters, in one line. */
  readonly description: string
  readonly license?: string
  /** Requirements on the skill's environment. At most 500 characters. */
  readonly compatibility?: string
  readonly metadata?: { readonly [key: string]: string }
  /** Tools with which the skill is meant to be used. They are shown to the model, but this grants no permission. */
  readonly allowedTools?: readonly string[]
  /** Real path of the skill's folder, absolute. */
  readonly folder: string
  /** First line of the text in `SKILL.md`, counted from 1. */
  readonly bodyLine: number
}

/** Skills that were found in folders. */
export interface FoundSkills {
  /** The skills, in the order of the folders, then by name. */
  readonly skills: readonly Skill[]
  /** Problems, a line each; every line names its skill or folder. */
  readonly trouble: readonly string[]
}
