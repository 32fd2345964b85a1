import { knownKeys } from '../../../redaction/src/knownKeys.ts'
import type { TaskRecording } from '../../../sessions/src/savedTask.ts'
import { pathOf } from './filesBefore.ts'
import { isBelow, isSecretFile } from './workspaceFiles.ts'

const blank = '[redacted]'

/** Returns a text with `[redacted]` in place of each recognized key. Pure. */
export function blanked(text: string): string {
  let clean = ''
  let end = 0
  for (const [start, to] of [...knownKeys(text)].toSorted(([a], [b]) => a - b)) {
    if (start < end) continue
    clean += `${text.slice(end, start)}${blank}`
    end = to
  }
  return clean === '' ? text : clean + text.slice(end)
}

/** Returns a JSON value whose texts have their keys blanked. Pure. */
export const blankedValue = <T>(value: T): T => mapTexts(value, blanked) as T

function mapTexts(value: unknown, to: (text: string) => string): unknown {
  if (typeof value === 'string') return to(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item: unknown) => mapTexts(item, to))
  return Object.fromEntries(Object.entries(value).map(([key, item]: [string, unknown]) => [key, mapTexts(item, to)]))
}

/**
 * Returns a recording without keys, and without inputs and results of calls on files of secrets or on links that may lead to one. Such a file is
 * left out of the task, so its content must not remain in the calls. Pure.
 */
export function withoutSecrets(recording: TaskRecording, links: ReadonlySet<string>): TaskRecording {
  const isSecret = (path: string): boolean => isSecretFile(path) || isBelow(pathOf({ path }) ?? '', links)
  const results = { ...recording.results }
  const replies = recording.replies.map((reply) => {
    if (!('toolCalls' in reply) || reply.toolCalls === undefined) return reply
    const toolCalls = reply.toolCalls.map((call) => {
      const { path, command, ...rest } = (call.input ?? {}) as Readonly<Record<string, unknown>>
      const isAtFile = typeof path === 'string' && isSecret(path)
      if (!isAtFile && !(typeof command === 'string' && command.split(betweenWords).some(isSecret))) return call
      const result = results[call.callId]
      if (result !== undefined) results[call.callId] = { ...result, text: blank }
      return isAtFile ? { ...call, input: { path, ...(mapTexts(rest, () => blank) as object) } } : call
    })
    return { ...reply, toolCalls }
  })
  return blankedValue({ ...recording, replies, results })
}

/** Characters that separate words of a shell command. */
const betweenWords = /[\s'"`=:;,|&<>(){}$]+/
