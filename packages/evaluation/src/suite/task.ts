import { z } from 'zod'
import { messageOf } from '../../../../src/protocol/errors.ts'
import { lazily } from '../../../../src/protocol/lazily.ts'
import { linearPattern } from '../../../schemas/src/linearPattern.ts'
import type { JsonSchema } from '../../../../src/protocol/ports/model.ts'
import { onlyFields } from '../../../../src/protocol/checks/onlyFields.ts'
import { schemaCheck } from '../../../schemas/src/schemaCheck.ts'
import { mistakesOf } from '../../../../src/protocol/checks/mistakes.ts'

interface CheckBase {
  /** Name in reports. Default: derived from the check's contents. */
  readonly name?: string
  /** Weight of the check in the mean of a trial's scores; default 1. */
  readonly weight?: number
  /** True if the trial fails without the check; default `true`. */
  readonly required?: boolean
}

/** A command that must end with exit code 0, run in the folder of the trial with the hidden files of `check/` laid over it. */
export interface CommandCheck extends CheckBase {
  readonly command: string
  /**
   * Milliseconds after which the command has failed and its processes are killed, except those in a
   * session of their own (`setsid`). Default 300,000.
   */
  readonly timeoutMs?: number
}

/**
 * Check that the last answer contains a text, or matches a regular expression (with the flag `u`).
 * An expression that backtracks without end blocks the process.
 */
export interface AnswerCheck extends CheckBase {
  readonly answer: string | { readonly matches: string }
}

/** A file that must exist in the trial's folder; `equals`, `contains` and `matches` check its content too. */
export interface FileCheck extends CheckBase {
  readonly file: string
  readonly equals?: string
  readonly contains?: string
  readonly matches?: string
}

/** Check that the last answer, or a file, is JSON that fits a schema. */
export interface JsonCheck extends CheckBase {
  readonly json: JsonSchema
  readonly file?: string
}

/** Check by a judge model, which scores the last answer from 0 to 1 by these criteria. */
export interface JudgeCheck extends CheckBase {
  readonly judge: string
  /** Score from which the check passes; default 0.5. */
  readonly min?: number
}

/** Check by a scorer of the suite, by name. The scorer receives all other fields of the check. */
export interface ScorerCheck extends CheckBase {
  readonly scorer: string
  readonly [option: string]: unknown
}

/** A check that judges a trial. */
export type Check = CommandCheck | AnswerCheck | FileCheck | JsonCheck | JudgeCheck | ScorerCheck

/** Limits of a whole trial, for all its prompts together. */
export interface TaskLimits {
  readonly turns?: number
  /** Maximum tokens of the trial's model calls, cached ones included. */
  readonly tokens?: number
  readonly costUsd?: number
  /** Maximum wall time of the trial's runs in milliseconds. */
  readonly ms?: number
}

/** The image of a task. */
export interface TaskImage {
  readonly name: string
  /** Place of the trial's folder in its containers once it is set up; `setup` finds the image's own files there. Default: `/workspace`. */
  readonly mount?: string
  /** True if commands run as the administrator of the container. Default `false`: as the user of this process. */
  readonly root?: boolean
}

/** A task, as `task.json` has it. */
export interface Task {
  /** Id of the task. Default, in a folder: the folder's name. */
  readonly id: string
  /** Messages to the agent, one run after another in one conversation. */
  readonly prompts: readonly string[]
  /** Commands that prepare the folder. */
  readonly setup?: string | readonly string[]
  readonly check?: string | Check | readonly (string | Check)[]
  readonly limits?: TaskLimits
  readonly tags?: readonly string[]
  /** Image whose containers run the task's commands, whatever the command line says. Default: none of its own. */
  readonly image?: string | TaskImage
  /** Initial files of a task in code, by path. */
  readonly files?: { readonly [path: string]: string }
  /** Files of a task in code that only its checks see, by path. */
  readonly checkFiles?: { readonly [path: string]: string }
}

const words = z.string().min(1, 'is empty')
const common = { name: words.optional(), weight: z.number().positive().optional(), required: z.boolean().optional() }
const ms = z.number().positive().max(86_400_000)

/** Schema of a path below a folder. */
export const insidePath = z.string().refine((path) => isInside(path), 'give a path inside the folder, without ".."')

/** Returns true if a relative path stays below its start. Pure. */
export function isInside(path: string): boolean {
  if (path === '' || /^([/\\]|[A-Za-z]:)/.test(path) || path.includes('\0')) return false
  const parts = path.split(/[/\\]/)
  return !parts.includes('..') && parts.some((part) => part !== '' && part !== '.')
}

const pattern = z.string().check(({ value, issues }) => {
  try {
    linearPattern(value)
  } catch (thrown) {
    const message = `is not a regular expression that can be tried: ${messageOf(thrown)}`
    issues.push({ code: 'custom', message, input: value })
  }
})

/** Schema of a JSON Schema that answers can be checked by. */
const answerSchema = z.record(z.string(), z.unknown()).check((context) => {
  const { unchecked } = schemaCheck(context.value)
  if (unchecked === undefined) return
  const message = `is not a JSON Schema that can be checked: ${unchecked}`
  context.issues.push({ code: 'custom', message, input: context.value })
})

/** Schemas of the kinds of checks, in the order in which they are looked for: the first of these keys that a check has is its kind. */
const checkSchemas = lazily(() => ({
  command: onlyFields({ command: words, timeoutMs: ms.optional(), ...common }),
  json: onlyFields({ json: answerSchema, file: insidePath.optional(), ...common }),
  answer: onlyFields({ answer: z.union([words, onlyFields({ matches: pattern })]), ...common }),
  judge: onlyFields({ judge: words, min: z.number().min(0).max(1).optional(), ...common }),
  scorer: z.looseObject({ scorer: words, ...common }),
  file: onlyFields({
    file: insidePath,
    equals: z.string().optional(),
    contains: words.optional(),
    matches: pattern.optional(),
    ...common,
  }),
}))

const kinds = ['command', 'json', 'answer', 'judge', 'scorer', 'file'] as const

/** Kind of a check. */
export type CheckKind = (typeof kinds)[number]

/** Returns the kind of a check; `undefined` if it has none. Pure. */
export const kindOf = (check: object): CheckKind | undefined => kinds.find((kind) => Object.hasOwn(check, kind))

const noKind = `a check has one of: ${kinds.join(', ')}`

/** Returns a schema that checks a value by the schema chosen for it, so that messages fit the intended kind, or reports that there is none. */
const chosen = (choose: (value: unknown) => z.ZodType | string): z.ZodType =>
  z.unknown().check(({ value, issues }) => {
    const schema = choose(value)
    if (typeof schema === 'string') return void issues.push({ code: 'custom', message: schema, input: value })
    const { error } = schema.safeParse(value, { reportInput: true })
    for (const { path, key, message } of error === undefined ? [] : mistakesOf(error))
      issues.push({ code: 'custom', message, input: value, path: key === undefined ? [...path] : [...path, key] })
  })

const oneCheck = chosen((value) => {
  if (typeof value === 'string') return words
  const isPlain = typeof value === 'object' && value !== null && !Array.isArray(value)
  const kind = isPlain ? kindOf(value) : undefined
  if (kind !== undefined) return checkSchemas()[kind]
  return isPlain ? noKind : `give a command, or an object: ${noKind}`
})

const listed = (schema: z.ZodType): z.ZodType =>
  chosen((value) => (Array.isArray(value) ? z.array(schema).min(1, 'is empty') : schema))

/** Name of an image, restricted so that it cannot be taken for an option or a command. */
export const imageName = z.string().regex(/^[a-z0-9][\w./:@-]{0,254}$/, 'is not the name of an image')
const mountPath = z
  .string()
  .regex(/^(?:\/(?!\.{1,2}(?:\/|$))[\w.-]+)+$/, 'is not an absolute path without "." and ".."')

const taskId = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
    'use 1 to 64 letters, digits, ".", "_" or "-", with a letter or digit first',
  )

const shape = lazily(() => ({
  id: taskId.optional(),
  prompts: z.array(words).min(1, 'say at least one thing to the agent'),
  setup: listed(words).optional(),
  limits: onlyFields({
    turns: z.int().positive().optional(),
    tokens: z.int().positive().optional(),
    costUsd: z.number().positive().optional(),
    ms: ms.optional(),
  }).optional(),
  tags: z.array(words).optional(),
  image: z
    .union([imageName, onlyFields({ name: imageName, mount: mountPath.optional(), root: z.boolean().optional() })])
    .optional(),
}))

/** Schema of `task.json`. */
export const taskFileSchema = lazily(() => onlyFields({ ...shape(), check: listed(oneCheck) }))

const files = z.record(insidePath, z.string())

/** Schema of a task in code. */
export const taskSchema = lazily(() =>
  onlyFields({
    ...shape(),
    id: taskId,
    check: listed(oneCheck).optional(),
    files: files.optional(),
    checkFiles: files.optional(),
  }),
)
