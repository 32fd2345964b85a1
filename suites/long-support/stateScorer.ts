import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { actionsFile, stateFile } from './tools.ts'

const action = z.looseObject({ tool: z.string() })

const optionsSchema = z.object({
  /** Values of the state at the end, by their paths, such as `orders.A-104.status`. */
  expect: z.record(z.string(), z.unknown()).default({}),
  /** Actions that must never have been done, with any of these arguments. */
  never: z.array(action).default([]),
  /** Actions that must have been done exactly once. */
  once: z.array(action).default([]),
})

/** Scores the state of the shop at the end, and what was done on the way. @throws ZodError for options that are none. */
export function scoreState(dir: string, given: unknown): { value: number; passed: boolean; reason: string } {
  const { expect, never, once } = optionsSchema.parse(given)
  if (!existsSync(join(dir, stateFile))) return { value: 0, passed: false, reason: 'no agent has opened the shop' }
  const state: unknown = JSON.parse(readFileSync(join(dir, stateFile), 'utf8'))
  const lines = existsSync(join(dir, actionsFile))
    ? readFileSync(join(dir, actionsFile), 'utf8').trim().split('\n')
    : []
  const actions = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  const countOf = (wanted: object): number =>
    actions.filter((each) => Object.entries(wanted).every(([key, value]) => isDeepStrictEqual(each[key], value))).length
  const checks = [
    ...Object.entries(expect).map(([path, wanted]) => {
      const seen = valueAt(state, path)
      const why = `${path} is ${JSON.stringify(seen)} and not ${JSON.stringify(wanted)}`
      return { holds: isDeepStrictEqual(seen, wanted), why }
    }),
    ...never.map((each) => ({ holds: countOf(each) === 0, why: `this was done: ${JSON.stringify(each)}` })),
    ...once.map((each) => ({
      holds: countOf(each) === 1,
      why: `this was done ${countOf(each)} times: ${JSON.stringify(each)}`,
    })),
  ]
  const wrong = checks.filter(({ holds }) => !holds)
  return {
    value: checks.length === 0 ? 1 : 1 - wrong.length / checks.length,
    passed: wrong.length === 0,
    reason: wrong.map(({ why }) => why).join('; '),
  }
}

const valueAt = (state: unknown, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>((value, key) => (value as Readonly<Record<string, unknown>> | null | undefined)?.[key], state)
