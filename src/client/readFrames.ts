import { errorInfo, type ErrorInfo } from '../protocol/errors.ts'
import type { Role, ServerFrame } from '../protocol/frames.ts'
import {
  anything,
  count,
  fields,
  list,
  maybe,
  number,
  oneOf,
  text,
  word,
  wrongText,
  type Fields,
  type Shape,
} from './shape.ts'
import { summaryShape } from './summaryShapes.ts'

type FrameOf<T extends ServerFrame['type']> = Extract<ServerFrame, { readonly type: T }>

/** The fields of a frame with its type. */
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
    role: word<Role>('observe', 'drive', 'admin'),
    definitions: list(text),
    limits,
  }),
  ok: frame('ok', { id: text, result: anything }),
  error: frame('error', { id: maybe(text), code: text, message: text }),
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
  closing: frame('closing', {}),
  pong: frame('pong', { id: maybe(text) }),
}

const shape = oneOf<'type', ServerFrame>('type', shapes)

/** Reads the frames of a message; one that is not understood is reported and skipped. Never throws. */
export function readFrames(data: unknown, report: (error: ErrorInfo) => void): ServerFrame[] {
  const values = parse(data)
  if (values === undefined) {
    report(errorInfo('BRIDGE_FRAME', 'The server sent a message that is not JSON text.'))
    return []
  }
  return values.filter((value): value is ServerFrame => {
    const wrong = shape(value)
    if (wrong !== undefined)
      report(errorInfo('BRIDGE_FRAME', `The server sent a frame that is not known here: ${wrongText(wrong)}.`))
    return wrong === undefined
  })
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
