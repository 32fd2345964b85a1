import type { ToolSpec } from '../../../../src/index.ts'
import { textTokens, tokensOf } from '../measure/tokens.ts'
import type { RecordedSession } from '../recordedSession.ts'
import { stubOf } from './sessionDraft.ts'

const isStub = ({ name, description }: ToolSpec): boolean => description === stubOf(name)

/** Fewer tokens than this are not worth standing in for. */
const least = 100
const words = 'Some words to stand in for it. '
const charsPerToken = 4

/**
 * Gives a session words without names for what its first request had beyond its message: system prompt and tools count in every request. `unit`:
 * tokens of the provider in four characters.
 */
export function withFrame(session: RecordedSession, unit = 1): RecordedSession {
  const { system, tools, turns, firstInput = 0, notes } = session
  const known = [textTokens(system), textTokens(JSON.stringify(tools)), ...turns[0]!.content.map(tokensOf)]
  const missing = Math.round(firstInput - unit * known.reduce((sum, tokens) => sum + tokens, 0))
  const isWhole = system !== '' && !tools.some(isStub)
  if (missing < least || isWhole)
    return { ...session, unit, notes: system === '' ? [...notes, 'has no system prompt'] : notes }
  const chars = Math.round((missing * charsPerToken) / unit)
  const standIn = words.repeat(Math.ceil(chars / words.length)).slice(0, chars)
  const what = system === '' ? 'has no system prompt' : 'does not have all of its system prompt and tools'
  return {
    ...session,
    system: system === '' ? standIn : `${system}\n\n${standIn}`,
    unit,
    notes: [...notes, `${what}: ${missing} tokens stand in, as the usage of its first reply tells`],
  }
}
