/**
 * How long the slowest prompt takes when one of two workers is killed in the middle, beside the same prompts undisturbed: the engine, PostgreSQL, and
 * the balancer of `escapement cluster` between engine and workers. Rounds alternate; a prompt is two turns of a model that takes 200 ms, and two tools
 * of 150 ms.
 *
 *   node tools/bench/failover.ts [--agents 20] [--prompts 3] [--rounds 5]
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { parseArgs } from 'node:util'
import { Balancer } from '../../packages/cli/src/cluster/balancer.ts'
import { defineAgent, policyModel, type AgentDefinition, type Model } from '../../src/index.ts'
import { postgresStore } from '../../src/postgres.ts'
import { systemClock } from '../../src/protocol/ports/clock.ts'
import { restateClient, restateWorker, type RestateClient } from '../../src/restate.ts'
import { PostgresServer } from '../../packages/postgres/test/server.ts'
import { Engine } from '../../packages/cluster/test/restate/engine.ts'
import { format, median, now } from './measure.ts'
import { benchAgent } from './scale/benchAgent.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    agents: { type: 'string', default: '20' },
    prompts: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '5' },
  },
})
const [agents, prompts, rounds] = [Number(values.agents), Number(values.prompts), Number(values.rounds)] as const
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** `benchAgent`, in no haste. */
function slowly(): AgentDefinition {
  const quick = policyModel(({ messages }) =>
    messages.at(-1)?.role === 'toolResult'
      ? 'done'
      : {
          toolCalls: [
            { name: 'note', input: { n: 1 } },
            { name: 'send', input: { n: 2 } },
          ],
        },
  )
  const model: Model = {
    ...quick,
    async *stream(request, context) {
      await pause(200)
      yield* quick.stream(request, context)
    },
  }
  const tools = Array.from(benchAgent.tools.values(), (tool) => ({
    ...tool,
    run: async (...args: Parameters<typeof tool.run>) => {
      await pause(150)
      return await tool.run(...args)
    },
  }))
  return defineAgent({ name: 'slow', model, tools })
}

const [database] = positionals
if (database === undefined) await measure()
else {
  const worker = await restateWorker({ definitions: [slowly()], store: postgresStore(database) })
  process.send!((await worker.listen({ port: 0 })).url)
}

async function measure(): Promise<void> {
  const server = await PostgresServer.start('fsync = on\nfull_page_writes = on\n')
  const engine = await Engine.start()
  const balancer = await Balancer.listen(systemClock)
  const children: ChildProcess[] = []
  const url = server.url(await server.newDatabase())
  const start = async (): Promise<{ kill(): void }> => {
    const child = fork(import.meta.filename, [url])
    children.push(child)
    const remove = balancer.add(String((await once(child, 'message'))[0]))
    void once(child, 'exit').then(remove)
    return { kill: () => child.kill('SIGKILL') }
  }
  try {
    let first = await start()
    await start()
    while (
      !(await engine.register(balancer.url).then(
        () => true,
        () => false,
      ))
    )
      await pause(50)
    const client = await restateClient({ ingress: engine.ingress, store: postgresStore(url) })
    await all(client, 'warm-up')
    const [undisturbed, killed]: [number[], number[]] = [[], []]
    for (let round = 0; round < rounds; round += 1) {
      undisturbed.push(await all(client, `u${round}`))
      const asked = all(client, `k${round}`)
      await pause(300 + 200 * round)
      first.kill()
      killed.push(await asked)
      first = await start()
    }
    const shown = (took: readonly number[]): string =>
      `${format(median(took), 0)} (${format(Math.max(...took), 0)} at most)`
    console.log(
      `${agents} agents, slowest of ${prompts} prompts each, ms: undisturbed ${shown(undisturbed)}, one of two workers killed ${shown(killed)}`,
    )
    client.close()
  } finally {
    for (const child of children) child.kill('SIGKILL')
    await balancer.close()
    await engine.remove()
    await server.remove()
  }
}

/** Gives all agents their prompts, and the time of the slowest. */
async function all(client: RestateClient, prefix: string): Promise<number> {
  const took: number[] = []
  const work = Array.from({ length: agents }, async (_, index) => {
    for (let prompt = 0; prompt < prompts; prompt += 1) {
      const begun = now()
      const command = { type: 'agent.prompt', agentId: `${prefix}-${index}`, content: 'go' } as const
      const { status, stopReason } = await client.request(command)
      if (status !== 'done' || stopReason !== 'stop') throw new Error(`${prefix}-${index}: ${status}, ${stopReason}`)
      took.push(now() - begun)
    }
  })
  await Promise.all(work)
  return Math.max(...took)
}
