import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { systemClock } from '../../../../src/protocol/ports/clock.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { AgentFinder } from '../../src/gateway/agentFinder.ts'
import { FleetLists } from '../../src/gateway/fleetLists.ts'
import { forwardRequest } from '../../src/gateway/forwardRequest.ts'

const [one, other] = ['ws://one:4100/bridge', 'ws://other:4100/bridge']

const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve()
}

describe('the lists of a gateway, of a worker that is lost', (it) => {
  /** A watcher who was told of an agent at the first worker, which is lost then. */
  async function watcher() {
    const sent: { readonly agents?: readonly object[]; readonly gone?: readonly string[] }[] = []
    const fleet = new FleetLists({
      workers: async () => [one, other],
      clock: simulatedClock(),
      ask: () => 'q',
      send: (frame) => void sent.push(frame),
      isNamed: false,
      isWithin: () => true,
    })
    fleet.take({ type: 'agent.watch', id: 'c1' })
    await settled()
    fleet.heard(one, { type: 'agents', agents: [{ agentId: 'a1', seq: 20, path: [] }] } as never)
    fleet.lost(one)
    return { fleet, sent }
  }

  it('tell of its agents where another has them now, however much of their logs it has', async () => {
    for (const seq of [1, 19, 20, 21]) {
      const { fleet, sent } = await watcher()
      sent.length = 0
      fleet.heard(other, { type: 'agents', agents: [{ agentId: 'a1', seq, path: [] }] } as never)
      assert.equal(sent, [{ type: 'agents', agents: [{ agentId: 'a1', seq, path: [] }], gone: [] }], `seq ${seq}`)
      fleet.close()
    }
  })

  it('count none of its agents as running', async () => {
    const { fleet } = await watcher()
    assert.equal([...(await fleet.running())], [])
    fleet.close()
  })

  it('tell once that its agents are gone', async () => {
    const { fleet, sent } = await watcher()
    fleet.lost(one)
    fleet.heard(one, { type: 'agents', gone: ['a1'] } as never)
    assert.equal(
      sent.flatMap(({ gone = [] }) => gone),
      ['a1'],
    )
    fleet.close()
  })
})

describe('an agent that is not found', (it) => {
  const nobody = { url: undefined, words: 'a process' }
  const fails = new Error('no directory')
  const sequences = [
    ['a process that serves nobody, to the end', [nobody], 'AGENT_ELSEWHERE'],
    ['a process that serves nobody, after a failure', [fails, nobody], 'AGENT_ELSEWHERE'],
    ['nothing, as it fails', [fails], 'AGENT_UNREACHABLE'],
    ['nothing, as it fails after it named a process that serves nobody', [nobody, fails], 'AGENT_UNREACHABLE'],
    ['nobody, after a process that serves nobody', [nobody, undefined], 'AGENT_UNREACHABLE'],
  ] as const
  for (const [what, answers, code] of sequences)
    it(`is refused by what the directory said last: ${what}`, async () => {
      const clock = simulatedClock()
      let asked = -1
      const finder = new AgentFinder({
        clock,
        workers: async () => [],
        whoHas: (async () => {
          const answer = answers[Math.min((asked += 1), answers.length - 1)]
          if (answer instanceof Error) throw answer
          return answer
        }) as never,
        place: undefined,
        failed: () => {},
      })
      const found = finder
        .find({ agentId: 'a', definition: undefined, failingSince: undefined }, new AbortController().signal)
        .catch((thrown: unknown) => (thrown as { code: string }).code)
      for (let gone = 0; gone < 12_000; gone += 100) await clock.advance(100)
      assert.is(await found, code)
    })
})

describe('an answer of a worker to a request of another protocol', (it) => {
  async function listening(context: CaseContext, listener: RequestListener): Promise<number> {
    const server = createServer(listener)
    context.cleanup(() => server.closeAllConnections())
    context.cleanup(() => new Promise((resolve) => server.close(resolve)))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return (server.address() as AddressInfo).port
  }

  it('reaches the client without what only the gateway says: who may read it, and what is kept of it', async (context) => {
    const worker = await listening(context, (_, response) => {
      response.writeHead(201, {
        'access-control-allow-origin': '*',
        'access-control-allow-credentials': 'true',
        'access-control-expose-headers': 'x-own',
        'set-cookie': 'worker=1',
        'x-own': 'yes',
        'content-type': 'text/plain',
      })
      response.end('said')
    })
    const finder = new AgentFinder({
      clock: systemClock,
      workers: async () => [`ws://127.0.0.1:${worker}/bridge`],
      whoHas: async () => undefined,
      place: undefined,
      failed: () => {},
    })
    const gateway = await listening(context, (request, response) => {
      void forwardRequest(
        { finder, clock: systemClock, lost: () => {} },
        {
          request,
          response,
          target: { path: '/x', isOwn: false },
          body: undefined,
          agentId: undefined,
          tokenFor: () => 't',
          begun: () => {},
        },
      )
    })
    const answer = await fetch(`http://127.0.0.1:${gateway}/x`, { headers: { connection: 'close' } })
    assert.equal([answer.status, await answer.text(), answer.headers.get('x-own')], [201, 'said', 'yes'])
    const kept = [...answer.headers.keys()].filter((name) => /^access-control-|^set-cookie$/.test(name))
    assert.equal(kept, [])
  })
})
