import { WebSocket } from 'ws'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import type { Client } from '../../src/client/client.ts'
import { connect } from '../../src/client/connect.ts'
import { conversationStore } from '../../src/client/conversationStore.ts'
import { heldWorld, words } from './heldWorld.ts'

/** Something that a client asks for, or follows. */
interface Following {
  /** Resolves with how it ended, if it does. */
  readonly ended?: Promise<string>
  /** Everything that it was told, in order. */
  told(): readonly unknown[]
  leave?(): void
}

const end = (asked: Promise<unknown>): Promise<string> =>
  asked.then(
    () => 'ok',
    (thrown: unknown) => (thrown as { code: string }).code,
  )

const follows: Readonly<Record<string, (client: Client) => Following>> = {
  snapshot: (client) => ({ ended: end(client.agent('a').snapshot()), told: () => [] }),
  conversation: (client) => ({ ended: end(client.agent('a').conversation()), told: () => [] }),
  prompt: (client) => ({
    ended: client
      .agent('a')
      .prompt(words)
      .result.then(({ stopReason, error }) => error?.code ?? stopReason),
    told: () => [],
  }),
  followUp: (client) => ({ ended: end(client.agent('a').followUp(words)), told: () => [] }),
  subscribe(client) {
    const seqs: number[] = []
    const leave = client.agent('a').subscribe(({ seq }) => seqs.push(seq), { fromSeq: 1, deltas: false })
    return { told: () => seqs, leave }
  },
  store(client) {
    const told: unknown[] = []
    const store = conversationStore(client.agent('a'))
    store.subscribe(() => told.push(store.getSnapshot().messages.length))
    return { told: () => told, leave: () => store.close() }
  },
  'watched waiting'(client) {
    const told: unknown[] = []
    return { told: () => told, leave: client.watchWaiting((waiting) => told.push(waiting.waiting.length)) }
  },
  roster(client) {
    const told: unknown[] = []
    return { told: () => told, leave: client.watch(({ agents }) => told.push(agents.length)) }
  },
}

/** A client, of which a step is held when it has begun to follow. */
async function held(context: CaseContext, name: string, step: 'who it is' | 'reading') {
  const world = await heldWorld(context, { isBehindGateway: false })
  const sockets: WebSocket[] = []
  class Counted extends WebSocket {
    constructor(...given: ConstructorParameters<typeof WebSocket>) {
      super(...given)
      sockets.push(this)
    }
  }
  const open = (): Client =>
    connect(`ws://127.0.0.1:${world.port}/bridge`, { webSocket: Counted, retry: { baseMs: 1, maxMs: 2 } })
  let reached = step === 'who it is' ? world.gates[step].shut() : undefined
  const client = open()
  context.cleanup(() => client.close())
  if (reached === undefined) {
    await new Promise<void>((resolve) => client.onStatus((status) => status === 'open' && resolve()))
    reached = world.gates[step].shut()
  }
  const following = follows[name]!(client)
  // Nothing is read for a list of those who run.
  if (name === 'roster' || name === 'watched waiting') await world.settle()
  else await reached
  await world.settle()
  return { ...world, client, sockets, following, letGo: () => world.gates[step].open() }
}

const until = async (settle: () => Promise<void>, holds: () => boolean): Promise<void> => {
  for (let times = 0; times < 100 && !holds(); times += 1) await settle()
}

for (const step of ['who it is', 'reading'] as const)
  describe(`a client of ours, while a server looks up ${step === 'reading' ? 'a log' : step}`, (it) => {
    for (const name of Object.keys(follows)) {
      it(`is told nothing once it is closed: ${name}`, async (context) => {
        const { client, following, letGo, settle, listening, connections, became, sockets } = await held(
          context,
          name,
          step,
        )
        const before = following.told().length
        client.close()
        if (following.ended !== undefined) assert.is(await following.ended, 'BRIDGE_CLOSED')
        letGo()
        await settle()
        await until(settle, () => listening() + connections() === 0)
        assert.equal([following.told().length, listening(), connections(), sockets.length], [before, 0, 0, 1])
        if (step === 'who it is') assert.equal(await became(), { said: 0, ends: [] })
      })

      it(`has it once, after it was cut off: ${name}`, async (context) => {
        const { following, letGo, settle, sockets, became, known } = await held(context, name, step)
        sockets[0]!.terminate()
        await until(settle, () => sockets.length > 1)
        letGo()
        if (following.ended !== undefined) {
          assert.is(await following.ended, name === 'prompt' ? 'stop' : 'ok')
          if (name === 'prompt' || name === 'followUp') assert.is((await became()).said, 1)
        } else await until(settle, () => following.told().length > (name === 'subscribe' ? known - 1 : 0))
        await settle()
        if (name === 'subscribe')
          assert.equal(
            following.told(),
            Array.from({ length: known }, (_, index) => index + 1),
          )
        else if (following.ended === undefined) assert.ok(following.told().length > 0)
      })

      if (!['snapshot', 'conversation', 'prompt', 'followUp'].includes(name))
        it(`is told nothing once it has left: ${name}`, async (context) => {
          const { following, letGo, settle, listening, client } = await held(context, name, step)
          const before = following.told().length
          following.leave!()
          letGo()
          await settle()
          await end(client.agents())
          await until(settle, () => listening() === 0)
          assert.equal([following.told().length, listening()], [before, 0])
        })
    }
  })
