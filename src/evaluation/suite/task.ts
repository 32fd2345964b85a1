import { z } from 'zod'
import { messageOf } from '../../protocol/errors.ts'
import { lazily } from '../../protocol/lazily.ts'
import { linearPattern } from '../../protocol/linearPattern.ts'
import type { JsonSchema } from '../../protocol/model.ts'
import { onlyFields } from '../../protocol/onlyFields.ts'
import { schemaCheck } from '../../protocol/schemaCheck.ts'
import { mistakesOf } from '../../userFiles/wrongInFile.ts'

interface CheckBase {
  /** What reports call it. Default: made from what it checks. */
  readonly name?: string
  /** How much it counts in the mean of a trial's scores; default 1. */
  readonly weight?: number
  /** Whether the trial can pass without it; default `true`: it cannot. */
  readonly required?: boolean
}

/** A command that has to end with exit code 0, run in the folder of the trial with the hidden files of `check/` laid over it. */
export interface CommandCheck extends CheckBase {
  readonly command: string
  /** Milliseconds after which it has failed, and its processes are killed but for such as began a session of their own (`setsid`); default 300,000. */
  readonly timeoutMs?: number
}

/** The last answer has to contain a text, or to match a regular expression (with the flag `u`). One that backtracks without end holds the process. */
export interface AnswerCheck extends CheckBase {
  readonly answer: string | { readonly matches: string }
}

/** A file of the trial's folder: that it is there, and what it holds. */
export interface FileCheck extends CheckBase {
  readonly file: string
  readonly equals?: string
  readonly contains?: string
  readonly matches?: string
}

/** The last answer, or a file, has to be JSON that fits a schema. */
export interface JsonCheck extends CheckBase {
  readonly json: JsonSchema
  readonly file?: string
}

/** A judge model scores the last answer from 0 to 1 by these criteria. */
export interface JudgeCheck extends CheckBase {
  readonly judge: string
  /** The score from which it passes; default 0.5. */
  readonly min?: number
}

/** A scorer of the suite, by name; it is given whatever else stands here. */
export interface ScorerCheck extends CheckBase {
  readonly scorer: string
  readonly [option: string]: unknown
}

/** What a trial is judged by. */
export type Check = CommandCheck | AnswerCheck | FileCheck | JsonCheck | JudgeCheck | ScorerCheck

/** Of a trial as a whole: all its prompts together. */
export interface TaskLimits {
  readonly turns?: number
  /** All tokens of its model calls, cached ones included. */
  readonly tokens?: number
  readonly costUsd?: number
  /** Wall time of its runs in milliseconds. */
  readonly ms?: number
}

/** The image of a task. */
export interface TaskImage {
  readonly name: string
  /** Where the folder of the trial is in its containers once it is set up; `setup` finds there what the image has. Default: `/workspace`. */
  readonly mount?: string
  /** Its commands run as the administrator of the container. Default `false`: as the user of this process. */
  readonly root?: boolean
}

/** A task, as `task.json` has it. */
export interface Task {
  /** Default, in a folder: the folder's name. */
  readonly id: string
  /** What the agent is told, one run after another in one conversation. */
  readonly prompts: readonly string[]
  /** Commands that prepare the folder. */
  readonly setup?: string | readonly string[]
  readonly check?: string | Check | readonly (string | Check)[]
  readonly limits?: TaskLimits
  readonly tags?: readonly string[]
  /** The image in whose containers its commands run, whatever the command line says. Default: none of its own. */
  readonly image?: string | TaskImage
  /** Of a task in code: the files it begins with, by path. */
  readonly files?: { readonly [path: string]: string }
  /** Of a task in code: files that only its checks see, by path. */
  readonly checkFiles?: { readonly [path: string]: string }
}

const words = z.string().min(1, 'is empty')
const common = { name: words.optional(), weight: z.number().positive().optional(), required: z.boolean().optional() }
const ms = z.number().positive().max(86_400_000)

/** A path below a folder. */
export const insidePath = z.string().refine((path) => isInside(path), 'give a path inside the folder, without ".."')

/** Whether a relative path stays below where it begins. Pure. */
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

/** A JSON Schema that answers can be checked by. */
const answerSchema = z.record(z.string(), z.unknown()).check((context) => {
  const { unchecked } = schemaCheck(context.value)
  if (unchecked === undefined) return
  const message = `is not a JSON Schema that can be checked: ${unchecked}`
  context.issues.push({ code: 'custom', message, input: context.value })
})

/** In the order in which they are looked for: what a check is, is said by the first of these keys that it has. */
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

/** What kind of check it is. */
export type CheckKind = (typeof kinds)[number]

/** The kind of a check; `undefined` for what is none. Pure. */
export const kindOf = (check: object): CheckKind | undefined => kinds.find((kind) => Object.hasOwn(check, kind))

const noKind = `a check has one of: ${kinds.join(', ')}`

/** Checks a value by the schema of its kind, so that what is said is about the check that was meant. */
const checkSchema = z.unknown().check((context) => {
  const { value } = context
  const isPlain = typeof value === 'object' && value !== null && !Array.isArray(value)
  const kind = isPlain ? kindOf(value) : undefined
  const say = (message: string, path: readonly PropertyKey[] = []): void =>
    void context.issues.push({ code: 'custom', message, input: value, path: [...path] })
  if (kind === undefined) return say(isPlain ? noKind : `give a command, or an object: ${noKind}`)
  const checked = checkSchemas()[kind].safeParse(value)
  for (const issue of checked.error?.issues ?? []) for (const { path, message } of mistakesOf(issue)) say(message, path)
})

const oneCheck = z.unknown().check((context) => {
  const { value } = context
  const checked = (typeof value === 'string' ? words : checkSchema).safeParse(value)
  for (const { path, message } of checked.error?.issues ?? [])
    context.issues.push({ code: 'custom', message, input: value, path: [...path] })
})

const listed = (schema: z.ZodType): z.ZodType =>
  z.unknown().check((context) => {
    const { value } = context
    const checked = (Array.isArray(value) ? z.array(schema).min(1, 'is empty') : schema).safeParse(value)
    for (const { path, message } of checked.error?.issues ?? [])
      context.issues.push({ code: 'custom', message, input: value, path: [...path] })
  })

/** The name of an image, so that it can be no option and no command. */
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

/** What stands in `task.json`. */
export const taskFileSchema = lazily(() => onlyFields({ ...shape(), check: listed(oneCheck) }))

const files = z.record(insidePath, z.string())

/** A task in code. */
export const taskSchema = lazily(() =>
  onlyFields({
    ...shape(),
    id: taskId,
    check: listed(oneCheck).optional(),
    files: files.optional(),
    checkFiles: files.optional(),
  }),
)
