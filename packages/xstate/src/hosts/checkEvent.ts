import { RuntimeError } from '../../../../src/protocol/errors.ts'
import { asJson, notJson } from './plainJson.ts'
import { isObject } from '../../../../src/protocol/checks/isObject.ts'

/** Maximum number of bytes of an event from outside, and of the output of an effect, as JSON. */
export const mostBytes = 262_144
/** Maximum number of bytes of an event that one of a machine's actors sends, as JSON. */
const mostInnerBytes = 1_048_576
/** Maximum number of events that wait for a machine. */
export const mostWaiting = 10_000

/**
 * Returns a copy of an event from outside.
 * @throws RuntimeError `EVENT_INVALID`
 */
export function checkEvent(
  event: unknown,
  refuse?: (event: { readonly type: string }) => string | undefined,
): { readonly type: string } {
  if (!isEvent(event)) throw invalid(`An event is an object with a type, but ${seen(event)} was given`)
  if (event.type.startsWith('xstate.')) throw invalid(`Events of type "${event.type}" come from XState alone`)
  const wrong = notJson(event, 'event')
  if (wrong !== undefined) throw invalid(`An event must be JSON, but ${wrong}`)
  const bytes = bytesOf(event)
  if (bytes > mostBytes) throw invalid(`An event of ${bytes} bytes is too large: at most ${mostBytes}`)
  const why = refuse?.(event)
  if (why !== undefined) throw invalid(`The event "${event.type}" was refused: ${why}`)
  return asJson(event)
}

/** Returns the reason why an event of one of a machine's actors, or a delayed event, cannot be recorded; `undefined` if it can. */
export function whyNotRecorded(event: { readonly type: string }, from: string): string | undefined {
  const wrong = notJson(event, 'it')
  if (wrong !== undefined) return `The event "${event.type}" of "${from}" must be JSON, but ${wrong}`
  const bytes = bytesOf(event)
  return bytes > mostInnerBytes
    ? `The event "${event.type}" of "${from}" has ${bytes} bytes, more than ${mostInnerBytes}`
    : undefined
}

/** Number of bytes of a value as JSON. */
export const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? '')

const isEvent = (event: unknown): event is { readonly type: string } =>
  isObject(event) && 'type' in event && typeof event.type === 'string' && event.type !== ''

function seen(event: unknown): string {
  if (!isObject(event)) return event === null ? 'null' : `a ${typeof event}`
  return Array.isArray(event) ? 'an array' : 'one without a type'
}

const invalid = (what: string): RuntimeError => new RuntimeError('EVENT_INVALID', `${what}.`)
