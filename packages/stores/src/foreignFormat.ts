import { isFields } from '../../../src/protocol/checks/isObject.ts'

type Json = { readonly [field: string]: unknown }

const has = (value: Json, ...fields: readonly string[]): boolean => fields.every((field) => field in value)
const isType = ({ type }: Json, shape: RegExp): boolean => typeof type === 'string' && shape.test(type)

/** Programs that write recordings, recognized by the first value in the file. The first match counts. */
const formats: readonly (readonly [name: string, fits: (value: Json) => boolean])[] = [
  ['an exported session of escapement', ({ format }) => format === 'escapement.session'],
  ['a log of escapement', (value) => value['type'] === 'agent.created' && has(value, 'seq')],
  [
    'a session of Codex',
    (value) =>
      has(value, 'timestamp', 'payload') && isType(value, /^(?:session_meta|response_item|event_msg|turn_context)$/),
  ],
  [
    'a session of the Copilot CLI',
    (value) => has(value, 'data') && isType(value, /^(?:session|user|assistant|tool)\./),
  ],
  [
    'a session of Claude Code',
    (value) => has(value, 'sessionId') || (has(value, 'leafUuid') && isType(value, /^summary$/)),
  ],
  ['a session of pi', (value) => isType(value, /^session$/) && has(value, 'version', 'cwd')],
  ['an export of OpenCode', (value) => isFields(value['info']) && Array.isArray(value['messages'])],
  ['a trajectory of SWE-agent', (value) => Array.isArray(value['trajectory'])],
  [
    'events of OpenHands',
    (value) => has(value, 'source') && (has(value, 'action') || has(value, 'observation') || has(value, 'kind')),
  ],
  [
    'chat messages',
    (value) => has(value, 'role') && (has(value, 'content') || has(value, 'parts') || has(value, 'tool_calls')),
  ],
  ['chat messages', (value) => Array.isArray(value['messages'])],
]

/** Description of a damaged file of this package. */
export const damagedFile = 'a damaged file of escapement'

/** Patterns for fields at the beginning of a text that is one value over many lines, or truncated. */
const written: readonly (readonly [name: string, shape: RegExp])[] = [
  [damagedFile, /^\{[^\r\n\u2028\u2029]{0,40}escapement\.session|^\{[^\r\n\u2028\u2029]*"type":"agent\.created"/m],
  ['an export of OpenCode', /^\s*\{\s*"info"\s*:\s*\{[^]*"(?:sessionID|projectID|directory)"/],
  ['a trajectory of SWE-agent', /^\s*\{[^]*"trajectory"\s*:\s*\[/],
  ['events of OpenHands', /^\s*\[\s*\{[^]*"source"\s*:\s*"(?:agent|user|environment)"/],
  ['chat messages', /"role"\s*:\s*"(?:system|user|assistant|developer)"/],
]

/** Number of lines that are examined. */
const firstLines = 20

/** Returns the name of the program that wrote a file, judged by its beginning; `undefined` if it is unknown. Pure; never throws. */
export function foreignFormat(beginning: string): string | undefined {
  const text = beginning.replace(/^\uFEFF/, '')
  const whole = parsed(text)
  // Some programs write lines of no kind first.
  const values =
    whole === undefined ? text.split('\n', firstLines).map(parsed) : Array.isArray(whole) ? [whole[0]] : [whole]
  const found = formats.find(([, fits]) => values.some((value) => isFields(value) && fits(value)))
  return (found ?? written.find(([, shape]) => shape.test(text)))?.[0]
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
