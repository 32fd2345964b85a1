import { oneLine } from '../../charts/src/plainText.ts'
import { systemClock, type Clock } from '../../../src/protocol/ports/clock.ts'
import { messageOf, RuntimeError } from '../../../src/protocol/errors.ts'
import type { Logger } from '../../../src/protocol/ports/logger.ts'
import { Redactor } from '../../redaction/src/redactor.ts'
import type { CliHost } from './cliHost.ts'

type Level = keyof Logger

/** Maximum number of similar lines within a time span. Further ones are only counted. */
const most = { lines: 5, ms: 60_000 } as const

/** Log of a running program about itself. */
export interface ProgramLog extends Logger {
  /** Logger for the program's parts, for lines that operators need. If a thousand agents fail alike, only a few lines are written. */
  readonly ofParts: Logger
  /** Writes the counts of omitted lines. */
  close(): void
}

/**
 * Creates a log on standard error with one line per event: JSON, or words followed by the fields. No line contains a secret from the environment,
 * or anything that looks like a key.
 */
export function programLog(
  { stderr, env }: Pick<CliHost, 'stderr' | 'env'>,
  { isJson, clock = systemClock }: { readonly isJson: boolean; readonly clock?: Clock },
): ProgramLog {
  const redactor = new Redactor({ secrets: secretsOf(env) })
  const write = (level: Level, fields: object, message: string): void => {
    const line = redactor.value({ time: new Date(clock.now()).toISOString(), level, message, ...plainFields(fields) })
    stderr.write(`${isJson ? JSON.stringify(line) : inWords(line)}\n`)
  }
  const say = (level: Level) => (fields: object, message: string) => write(level, fields, message)
  const counts = new Map<string, number>()
  let cancel: (() => void) | undefined
  const tellRest = (): void => {
    cancel?.()
    cancel = undefined
    for (const [message, count] of counts)
      if (count > most.lines) write('warn', { count: count - most.lines }, `${message} (more of the same)`)
    counts.clear()
  }
  const sometimes = (level: Level) => (fields: object, message: string) => {
    const count = (counts.get(message) ?? 0) + 1
    counts.set(message, count)
    cancel ??= clock.after(most.ms, tellRest)
    if (count <= most.lines) write(level, fields, message)
  }
  const none = (): void => {}
  return {
    debug: none,
    info: say('info'),
    warn: say('warn'),
    error: say('error'),
    ofParts: { debug: none, info: none, warn: sometimes('warn'), error: sometimes('error') },
    close: tellRest,
  }
}

const secretName = /(?:password|passwd|secret|token|key)$/i

/** Returns values of environment variables with names of secrets, and passwords in URLs there. */
function secretsOf(env: NodeJS.ProcessEnv): Record<string, string> {
  const named = Object.entries(env).filter(([name]) => /^[\w.-]{1,64}$/.test(name))
  const secrets = named.map(([name, value = '']) => [name, secretName.test(name) ? value : passwordIn(value)] as const)
  return Object.fromEntries(secrets.filter(([, secret]) => secret.length >= 6))
}

function passwordIn(value: string): string {
  const password = value.includes('://') ? (URL.parse(value)?.password ?? '') : ''
  try {
    return decodeURIComponent(password)
  } catch {
    return password
  }
}

/** Converts fields to plain values: an error to its message, the rest to JSON values. */
function plainFields(fields: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]): [string, unknown][] => {
      if (value === undefined) return []
      if (!(value instanceof Error)) return [[name, value]]
      return [
        ...(value instanceof RuntimeError ? [['code', value.code] as [string, unknown]] : []),
        [name, messageOf(value)],
      ]
    }),
  )
}

/** Fields left out for people, who can find the record in the agent's log. */
const forMachines: ReadonlySet<string> = new Set(['event', 'seq', 'runId', 'turnIndex'])

interface Line {
  readonly time: string
  readonly level: Level
  readonly message: string
}

function inWords({ time, level, message, ...fields }: Line): string {
  const about = Object.entries(fields)
    .filter(([name]) => !forMachines.has(name))
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
  return oneLine(`${time} ${level} ${message}${about.length === 0 ? '' : ` (${about.join(', ')})`}`)
}

/** Converts a JSON line of such a log to words; `undefined` for any other line. */
export function spokenLine(text: string): { readonly level: string; readonly words: string } | undefined {
  try {
    const line = JSON.parse(text) as Line | null
    const isOne = typeof line?.time === 'string' && typeof line.level === 'string' && typeof line.message === 'string'
    return isOne ? { level: line.level, words: inWords(line) } : undefined
  } catch {
    return undefined
  }
}
