import type { Consultation, HiddenPart, Keeper, Kept } from '../../../src/actors/define/policy.ts'
import { BrakeLog } from '../../../test/support/brakeLog.ts'
import { fakeConsultation, type Wanted } from './fakeConsultation.ts'

/** A conversation of a person’s message, three steps of the model, and one that is at work. */
export function worked(): BrakeLog {
  const log = new BrakeLog()
  log.user('fix the parser')
  log.step([{ name: 'read_file', input: { path: 'src/lexer.ts' }, output: 'x'.repeat(4_000) }])
  log.step([
    { name: 'run', input: { command: 'npm test' }, output: 'npm test\nTypeError: no token', isError: true },
    { name: 'deploy', input: { to: 'prod' }, denied: 'never on Fridays' },
  ])
  log.reply('The cause is in src/token.ts: it loses the last token.')
  log.step([
    { name: 'edit_file', input: { path: 'src/token.ts' }, changed: ['src/token.ts'] },
    { name: 'pay', input: { eur: 5 }, output: 'paid', isIrreversible: true },
  ])
  log.step([{}])
  return log
}

export const partOf = (at: Consultation, ...ids: readonly string[]): HiddenPart => {
  const steps = at.steps.filter(({ id, fixed }) => (ids.length === 0 ? fixed === undefined : ids.includes(id)))
  return { key: 'a/policy/7', steps, tokens: steps.reduce((sum, step) => sum + step.tokens, 0) }
}

export async function kept(keeper: Keeper, wanted: Wanted = {}, ...ids: readonly string[]): Promise<Kept> {
  const at = fakeConsultation({ log: worked(), ...wanted })
  return keeper.keep(partOf(at, ...ids), at)
}

export const memoOf = async (...args: Parameters<typeof kept>): Promise<string> =>
  ((await kept(...args)) as { readonly memo: string }).memo
