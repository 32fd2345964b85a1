import type { RawData, WebSocket } from 'ws'
import { describeIssues, errorInfo, RuntimeError, toErrorInfo, type ErrorInfo } from '../../protocol/errors.ts'
import { clientFrameSchema, closeCodes, type CheckedClientFrame, type ServerFrame } from '../../protocol/frames.ts'
import { grantOf, mayAct, reaches, type Grant } from './access.ts'
import type { Bridge } from './bridge.ts'
import { rights, type Commanding } from './commandTable.ts'
import { Outbox } from './outbox.ts'
import { Subscription } from './subscription.ts'

/** One connected client: its rights, its commands, its subscriptions. A closed socket aborts nothing. */
export class BridgeSession implements Commanding {
  readonly bridge: Bridge
  readonly #socket: WebSocket
  readonly #outbox: Outbox
  readonly #subscriptions = new Map<string, Subscription>()
  #grant: Grant | undefined
  /** Chosen by the client, so that its commands are known again after a reconnect. */
  #sessionId = ''
  #frames = 0
  #isAlive = true
  /** Commands are carried out in the order they came. */
  #last: Promise<void> = Promise.resolve()
  #waiting = 0

  constructor(socket: WebSocket, bridge: Bridge, cookieToken: string | undefined) {
    this.#socket = socket
    this.bridge = bridge
    const { highWaterBytes, hardLimitBytes } = bridge.limits
    this.#outbox = new Outbox(socket, { high: highWaterBytes, hard: hardLimitBytes }, () =>
      this.close(closeCodes.stuck, 'the client does not read'),
    )
    socket.on('message', (data, isBinary) => this.#hear(data, isBinary))
    socket.on('pong', () => (this.#isAlive = true))
    socket.on('error', () => this.#socket.terminate())
    socket.on('close', () => this.#left())
    if (cookieToken !== undefined) this.#token = cookieToken
  }

  #token: string | undefined

  get isWelcome(): boolean {
    return this.#grant !== undefined
  }

  /** A second is over: the frame allowance is fresh. */
  tick(): void {
    this.#frames = 0
  }

  /** Asks whether the client is there; gives it up when it did not answer the last time. */
  ping(): void {
    if (!this.#isAlive) return this.close(closeCodes.silent, 'no pong')
    this.#isAlive = false
    this.#socket.ping()
  }

  send(frame: ServerFrame): void {
    this.#outbox.send(JSON.stringify(frame))
  }

  close(code: number, reason: string): void {
    if (this.#socket.readyState > 1) return
    this.#socket.close(code, reason)
    // A client that does not answer the close is cut off.
    this.bridge.clock.after(2_000, () => this.#socket.terminate())
  }

  terminate(): void {
    this.#socket.terminate()
  }

  subscribe(agentId: string, wanted: { fromSeq: number; deltas: boolean }): void {
    this.unsubscribe(agentId)
    if (this.#subscriptions.size >= this.bridge.limits.subscriptions) {
      throw new RuntimeError('BRIDGE_LIMIT', `${this.#subscriptions.size} subscriptions are the most allowed.`)
    }
    const feed = this.bridge.feedOf(agentId)
    if (wanted.fromSeq > feed.lastSeq + 1) {
      const what = `fromSeq is ${wanted.fromSeq}, but the log of agent "${agentId}" ends with ${feed.lastSeq}.`
      throw new RuntimeError('INVALID_OPTION', what)
    }
    const subscription = new Subscription({
      feed,
      store: this.bridge.store,
      outbox: this.#outbox,
      wanted,
      fail: (code, message) => this.send({ type: 'error', code, message }),
    })
    this.#subscriptions.set(agentId, subscription)
  }

  unsubscribe(agentId: string): void {
    this.#subscriptions.get(agentId)?.close()
    this.#subscriptions.delete(agentId)
    this.bridge.letGo(agentId)
  }

  /** Whether the client may see and drive an agent. */
  reaches(agentId: string, path: readonly string[]): boolean {
    return this.#grant !== undefined && reaches(this.#grant, agentId, path)
  }

  #hear(data: RawData, isBinary: boolean): void {
    this.#frames += 1
    const { framesPerSecond, waitingCommands } = this.bridge.limits
    if (this.#frames > framesPerSecond || this.#waiting > waitingCommands) {
      return this.close(closeCodes.flooded, 'too many frames')
    }
    if (isBinary)
      return this.#refuse(undefined, errorInfo('BRIDGE_FRAME', 'A binary frame came; frames are JSON text.'))
    const frame = readFrame(textOf(data), this.bridge.limits.depth)
    if ('problem' in frame) return this.#refuse(frame.id, errorInfo('BRIDGE_FRAME', frame.problem))
    if (frame.type === 'hello') return this.#greet(frame)
    if (this.#grant === undefined) {
      this.#refuse(
        'id' in frame ? frame.id : undefined,
        errorInfo('BRIDGE_UNAUTHORISED', 'The first frame must be "hello".'),
      )
      return this.close(closeCodes.unauthorised, 'no hello')
    }
    if (frame.type === 'ping') return this.send({ type: 'pong', ...(frame.id === undefined ? {} : { id: frame.id }) })
    this.#waiting += 1
    this.#last = this.#last.then(() => this.#carryOut(frame)).finally(() => (this.#waiting -= 1))
  }

  #greet({ token = this.#token, sessionId }: Extract<CheckedClientFrame, { type: 'hello' }>): void {
    const { tokens, limits, definitions } = this.bridge
    const grant =
      tokens === undefined ? ({ role: 'admin' } as const) : token === undefined ? undefined : grantOf(tokens, token)
    if (grant === undefined || this.#grant !== undefined) {
      const what = this.#grant === undefined ? 'The token is missing or wrong.' : '"hello" came twice.'
      this.#refuse(undefined, errorInfo('BRIDGE_UNAUTHORISED', what))
      return this.close(closeCodes.unauthorised, 'unauthorised')
    }
    this.#grant = grant
    this.#sessionId = sessionId ?? this.bridge.newId()
    this.send({
      type: 'welcome',
      sessionId: this.#sessionId,
      role: grant.role,
      definitions: [...definitions.keys()],
      limits: {
        maxFrameBytes: limits.frameBytes,
        framesPerSecond: limits.framesPerSecond,
        maxSubscriptions: limits.subscriptions,
      },
    })
  }

  async #carryOut(frame: Exclude<CheckedClientFrame, { type: 'hello' | 'ping' }>): Promise<void> {
    const { id, type } = frame
    try {
      const right = rights[type]
      if (!mayAct(this.#grant!.role, right.role)) {
        throw new RuntimeError(
          'BRIDGE_FORBIDDEN',
          `"${type}" needs the role "${right.role}"; this token has "${this.#grant!.role}".`,
        )
      }
      const result = await this.bridge.once(`${this.#sessionId}/${id}`, () =>
        right.run(this, frame as never, `${this.#sessionId}/${id}`),
      )
      this.send({ type: 'ok', id, result: result ?? null })
    } catch (thrown) {
      this.#refuse(id, toErrorInfo(thrown, 'INTERNAL'))
    }
  }

  #refuse(id: string | undefined, { code, message }: ErrorInfo): void {
    this.send({ type: 'error', ...(id === undefined ? {} : { id }), code, message })
  }

  #left(): void {
    for (const agentId of this.#subscriptions.keys()) this.unsubscribe(agentId)
    this.bridge.left(this)
  }
}

const textOf = (data: RawData): string =>
  Buffer.isBuffer(data)
    ? data.toString('utf8')
    : Array.isArray(data)
      ? Buffer.concat(data).toString('utf8')
      : Buffer.from(data).toString('utf8')

type Read = CheckedClientFrame | { readonly problem: string; readonly id?: string }

/** Reads a frame; what is wrong with it is said, never thrown. */
export function readFrame(text: string, maxDepth: number): Read {
  if (depthOf(text) > maxDepth) return { problem: `The frame is nested deeper than ${maxDepth} levels.` }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { problem: 'The frame is not JSON.' }
  }
  const frame = clientFrameSchema.safeParse(value)
  if (frame.success) return frame.data
  const id = typeof value === 'object' && value !== null && 'id' in value ? value.id : undefined
  const problem = `The frame is not one this server knows: ${describeIssues(frame.error)}.`
  return typeof id === 'string' && id.length <= 128 ? { problem, id } : { problem }
}

/** How deep brackets are nested, strings left out: found before parsing, which would recurse. */
function depthOf(text: string): number {
  let depth = 0
  let deepest = 0
  let isText = false
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index)
    if (isText) {
      if (unit === 0x5c) index += 1
      else if (unit === 0x22) isText = false
    } else if (unit === 0x22) isText = true
    else if (unit === 0x7b || unit === 0x5b) deepest = Math.max(deepest, (depth += 1))
    else if (unit === 0x7d || unit === 0x5d) depth -= 1
  }
  return deepest
}
