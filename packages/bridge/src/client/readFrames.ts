import { errorInfo, type ErrorInfo } from '../../../../src/protocol/errors.ts'
import type { ServerFrame } from '../../../wire/src/frames.ts'
import type { Role } from '../../../wire/src/rights.ts'
import {
  anything,
  count,
  fields,
  list,
  maybe,
  number,
  oneOf,
  text,
  texts,
  word,
  wrongText,
  type Fields,
  type Shape,
  type Wrong,
} from './shape.ts'
import { summaryShape } from './summaryShapes.ts'

type FrameOf<T extends ServerFrame['type']> = Extract<ServerFrame, { readonly type: T }>

/** Returns the shape of a frame from its type and its other fields. */
const frame = <T extends ServerFrame['type']>(type: T, rest: Omit<Fields<FrameOf<T>>, 'type'>): Shape<FrameOf<T>> =>
  fields({ ...rest, type: word(type) } as unknown as Fields<FrameOf<T>>)

const limits = fields<FrameOf<'welcome'>['limits']>({
  maxFrameBytes: number,
  framesPerSecond: number,
  maxSubscriptions: number,
})

const shapes: { readonly [T in ServerFrame['type']]: Shape<FrameOf<T>> } = {
  welcome: frame('welcome', {
    sessionId: text,
    role: maybe(word<Role>('observe', 'talk', 'drive', 'admin')),
    may: maybe(list(text)),
    definitions: list(text),
    descriptions: maybe(texts),
    alertUsd: maybe(number),
    limits,
  }),
  ok: frame('ok', { id: text, result: anything }),
  error: frame('error', {
    id: maybe(text),
    agentId: maybe(text),
    code: text,
    message: text,
    elsewhere: maybe(fields<NonNullable<FrameOf<'error'>['elsewhere']>>({ url: maybe(text), epoch: maybe(number) })),
  }),
  event: frame('event', { agentId: text, seq: count, event: anything, live: maybe(word(true)) }),
  delta: frame('delta', {
    agentId: text,
    runId: text,
    turnIndex: count,
    kind: word('text', 'thinking'),
    offset: count,
    text,
  }),
  caughtUp: frame('caughtUp', { agentId: text, seq: count }),
  lagging: frame('lagging', { agentId: text, seq: count }),
  agents: frame('agents', { agents: list(summaryShape), gone: list(text) }),
  definitions: frame('definitions', { definitions: list(text), descriptions: maybe(texts) }),
  closing: frame('closing', {}),
  pong: frame('pong', { id: maybe(text) }),
}

const shape = oneOf<'type', ServerFrame>('type', shapes)

/** Reads the frames of a message; a frame that is not understood is reported and skipped. Never throws. */
export function readFrames(data: unknown, report: (error: ErrorInfo) => void): ServerFrame[] {
  const values = parse(data)
  if (values === undefined) {
    report(errorInfo('BRIDGE_FRAME', 'The server sent a message that is not JSON text.'))
    return []
  }
  const frames: ServerFrame[] = []
  for (const value of values) {
    const wrong = isDeeper(value, mostDepth) ? tooDeep : shape(value)
    if (wrong === undefined) {
      frames.push(value as ServerFrame)
      continue
    }
    const error = errorInfo('BRIDGE_FRAME', `The server sent a frame that is not known here: ${wrongText(wrong)}.`)
    const refused = wrong === tooDeep ? idOfAnswer(value) : undefined
    // Whoever waits for it hears of it.
    if (refused === undefined) report(error)
    else frames.push({ type: 'error', id: refused, ...error })
  }
  return frames
}

/** Maximum nesting depth of a frame. Log records are at most 1,000 levels deep, and a frame adds a few more. */
const mostDepth = 1_100
const tooDeep: Wrong = { path: [], what: `it is nested deeper than ${mostDepth} levels` }

/** Returns true if the value is nested deeper than `levels`; code that walks a checked value needs no limit of its own. */
const isDeeper = (value: unknown, levels: number): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1)))

/** Returns the id of an answer to a command; `undefined` for any other frame. */
function idOfAnswer(value: unknown): string | undefined {
  const { type, id } = value as { readonly type?: unknown; readonly id?: unknown }
  return type === 'ok' && typeof id === 'string' ? id : undefined
}

function parse(data: unknown): unknown[] | undefined {
  if (typeof data !== 'string') return undefined
  try {
    const value: unknown = JSON.parse(data)
    return Array.isArray(value) ? value : [value]
  } catch {
    return undefined
  }
}
