import type { SuiteDefinition } from './defineSuite.ts'
import type { Check, Task, TaskImage, TaskLimits } from './task.ts'
import type { TaskFile } from './taskFiles.ts'

/** A task that was read and checked. */
export interface SuiteTask {
  readonly id: string
  readonly prompts: readonly string[]
  readonly setup: readonly string[]
  readonly checks: readonly Check[]
  readonly limits: TaskLimits
  readonly tags: readonly string[]
  readonly image?: TaskImage
  readonly files: readonly TaskFile[]
  /** Files laid over the folder when checks run, which are unseen before. */
  readonly checkFiles: readonly TaskFile[]
}

/** An example for the judge: an answer that a person has judged. */
export interface JudgedExample {
  /** Criteria of the judge. */
  readonly judge: string
  readonly prompts: readonly string[]
  readonly answer: string
  /** Verdict of the person. */
  readonly passed: boolean
  readonly min: number
}

/** A suite that was read and checked. */
export interface Suite {
  readonly name: string
  /** Folder of the suite; missing for a suite in code. */
  readonly folder?: string
  /** Path of its module `suite.ts`, if it has one. */
  readonly module?: string
  readonly digest: string
  readonly tasks: readonly SuiteTask[]
  readonly definition: SuiteDefinition
  /** Examples from `judge.jsonl`. */
  readonly judged: readonly JudgedExample[]
}

const listOf = <T>(value: T | readonly T[] | undefined): readonly T[] =>
  value === undefined ? [] : Array.isArray(value) ? (value as readonly T[]) : [value as T]

/** Returns a task with its defaults filled in. */
export const suiteTask = (
  { id, prompts, setup, check, limits = {}, tags = [], image }: Task,
  files: readonly TaskFile[],
  checkFiles: readonly TaskFile[],
): SuiteTask => ({
  id,
  prompts,
  setup: listOf<string>(setup),
  checks: listOf<string | Check>(check).map((one) => (typeof one === 'string' ? { command: one } : one)),
  limits,
  tags,
  ...(image === undefined ? {} : { image: typeof image === 'string' ? { name: image } : image }),
  files,
  checkFiles,
})

/** Converts files given in code, as text by path. */
export const textFiles = (files: Task['files'] = {}): TaskFile[] =>
  Object.entries(files).map(([path, text]) => ({ path, text }))
