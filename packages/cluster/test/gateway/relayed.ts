import { once } from 'node:events'
import { WebSocket } from 'ws'
import { systemClock, type Clock } from '../../../../src/protocol/ports/clock.ts'
import { toErrorInfo } from '../../../../src/protocol/errors.ts'
import type { Command, FrontClient } from '../../../bridge/src/server/front.ts'
import type { Grant } from '../../../bridge/src/server/roles.ts'
import { AgentFinder } from '../../src/gateway/agentFinder.ts'
import { ClientRelay } from '../../src/gateway/clientRelay.ts'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import type { CaseContext } from '../../../../test/support/suite.ts'
import { fakeWorker, welcome } from './fakeWorker.ts'

export interface Asked {
  readonly type: string
  readonly id: string
}

/** A worker that answers each command with what `answer` says of it; `asked`: what it was told. */
export async function worker(context: CaseContext, answer: (command: Asked) => readonly object[] = yes) {
  const asked: string[] = []
  const heard: (() => void)[] = []
  const fake = await fakeWorker(context, (text) => {
    const command = JSON.parse(text) as Asked
    if (command.type === 'hello') return [welcome]
    asked.push(`${command.type} ${command.id}`)
    for (const resolve of heard.splice(0)) resolve()
    return answer(command)
  })
  const until = async (isThere: (list: readonly string[]) => boolean): Promise<void> => {
    while (!isThere(asked)) await new Promise<void>((resolve) => heard.push(resolve))
  }
  /** Resolves once what it has sent so far would have come, where somebody reads. */
  const passed = async (): Promise<void> => {
    const socket = new WebSocket(fake.url)
    context.cleanup(() => socket.terminate())
    await once(socket, 'open')
    for (let turn = 0; turn < 5; turn += 1) {
      socket.send('{"type":"hello"}')
      await once(socket, 'message')
    }
    socket.terminate()
  }
  return { ...fake, asked, until, passed }
}

export const yes = ({ id }: Asked): readonly object[] => [{ type: 'ok', id, result: null }]

/** One client of a gateway to these agents, by the address of each. */
export function relayed(
  context: CaseContext,
  agents: Readonly<Record<string, string | Promise<string>>>,
  checkReach: (agentId: string) => Promise<void> | undefined = () => undefined,
  clockOf: (finderClock: Clock) => Clock = () => systemClock,
  grant: Grant = { role: 'admin' },
) {
  const finderClock = simulatedClock()
  const finder = new AgentFinder({
    whoHas: async (agentId) => {
      const url = await agents[agentId]
      // Without an address: who has it serves nobody.
      return url === undefined ? undefined : url === '' ? {} : { url }
    },
    workers: () => Promise.all(Object.values(agents).map(async (url) => url)),
    place: undefined,
    clock: finderClock,
    failed: () => {},
  })
  const sent: { readonly type: string; readonly id?: string; readonly message?: string }[] = []
  const heard: (() => void)[] = []
  const drains: (() => void)[] = []
  const outbox = {
    isFull: false,
    /** True if writing at once makes room. */
    flushes: false,
    send(frame: string) {
      sent.push(JSON.parse(frame) as Asked)
      for (const resolve of heard.splice(0)) resolve()
    },
    onDrain: (call: () => void) => {
      drains.push(call)
      return () => {}
    },
    flush() {
      if (this.flushes) this.isFull = false
    },
  }
  const failures: string[] = []
  const lost: string[] = []
  const client: FrontClient = {
    permit: { grant, owner: undefined, isGranted: () => true },
    session: { id: 's', isProven: true },
    outbox,
    fail: ({ code }) => void failures.push(code),
  }
  const gateway = {
    finder,
    clock: clockOf(finderClock),
    tokensOf: () => () => 'token',
    checkReach,
    outward: (thrown: unknown) => toErrorInfo(thrown, 'INTERNAL'),
    entriesOf: async () => [],
    lostWorker: (url: string) => void lost.push(url),
    left: () => {},
  }
  const relay = new ClientRelay(gateway, client)
  context.cleanup(() => {
    relay.close()
    finder.close()
  })
  return {
    relay,
    sent,
    outbox,
    /** Workers that were said to be lost. */
    lost,
    finder,
    finderClock,
    failures,
    tell: (type: string, agentId: string, id: string): void =>
      void relay.takes({ type, agentId, id, content: 'x' } as unknown as Command),
    until: async (isThere: () => boolean): Promise<void> => {
      while (!isThere()) await new Promise<void>((resolve) => heard.push(resolve))
    },
    fills: (isFull: boolean): void => {
      outbox.isFull = isFull
      if (!isFull) for (const call of drains.splice(0)) call()
    },
    answers: () => sent.flatMap(({ id }) => (id === undefined ? [] : [id])),
  }
}
