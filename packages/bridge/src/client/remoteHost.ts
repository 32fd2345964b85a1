import type { HostLine, HostView, PendingTimer } from '../../../wire/src/hostView.ts'
import { readAnswer } from './answers.ts'
import type { Asked } from './outgoing.ts'
import { anything, count, fields, list, maybe, number, text, word } from './shape.ts'

const hostShape = fields<HostView>({
  id: text,
  machine: text,
  version: maybe(text),
  status: word('active', 'done', 'error', 'closed'),
  value: anything,
  seq: count,
  timers: list(fields<PendingTimer>({ id: text, type: text, due: number })),
  children: list(fields<HostView['children'][number]>({ id: text, agentId: maybe(text), status: text })),
})

/** Answer to `host.list`. */
export const hostsShape = fields<{ readonly hosts: readonly HostView[] }>({ hosts: list(hostShape) })

const readShape = fields<{ readonly host: HostView }>({ host: hostShape })

const toldShape = fields<{ readonly host: HostView; readonly records: readonly HostLine[] }>({
  host: hostShape,
  records: list(fields<HostLine>({ seq: count, time: number, type: text, line: text })),
})

/** A machine that the server keeps. Made by `client.host`. */
export class RemoteHost {
  readonly id: string
  readonly #ask: (frame: Asked) => Promise<unknown>

  /** Called by `client.host`. */
  constructor(id: string, ask: (frame: Asked) => Promise<unknown>) {
    this.id = id
    this.#ask = ask
  }

  /**
   * Sends the machine an event. Resolves once the event is in the server's store and was taken. A closed machine is opened for it, if the server
   * knows its definition. The event is taken once, even if the connection is lost meanwhile. `requestId` ensures this beyond this client. Rejects
   * with `MACHINE_NOT_FOUND`, `MACHINE_CLOSED` (it is done), `EVENT_INVALID`, `QUEUE_FULL`, `BRIDGE_FORBIDDEN`.
   */
  async send(
    event: { readonly type: string; readonly [field: string]: unknown },
    { requestId }: { readonly requestId?: string } = {},
  ): Promise<void> {
    await this.#ask({ type: 'host.send', hostId: this.id, event, ...(requestId === undefined ? {} : { requestId }) })
  }

  /**
   * Returns the state of the machine. With `after`, waits for a record after this `seq`, at most 20 seconds.
   * Rejects with `MACHINE_NOT_FOUND`, `BRIDGE_FORBIDDEN`.
   */
  async read({ after }: { readonly after?: number } = {}): Promise<HostView> {
    const frame = { type: 'host.read', hostId: this.id, ...(after === undefined ? {} : { after }) } as const
    return readAnswer(readShape, await this.#ask(frame)).host
  }

  /**
   * Returns the state of the machine with the newest 200 records of its log, as texts. With `after`, returns
   * only records after this `seq`, and waits for one, at most 20 seconds. Rejects as `read` does.
   */
  async history({ after }: { readonly after?: number } = {}): Promise<{
    readonly host: HostView
    readonly records: readonly HostLine[]
  }> {
    const frame = {
      type: 'host.read',
      hostId: this.id,
      records: true,
      ...(after === undefined ? {} : { after }),
    } as const
    return readAnswer(toldShape, await this.#ask(frame))
  }
}
