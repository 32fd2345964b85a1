import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { Client } from '../../../../bridge/src/client/client.ts'
import { connect } from '../../../../bridge/src/client/connect.ts'
import { Heard } from '../../../../bridge/test/server/bridgeHarness.ts'
import { storeAt, register, type CellPlace } from './cell.ts'
import { judge, logsOf, type CellResult } from './cellResult.ts'
import { contentsFor } from './drive.ts'
import { Switchboard } from './switchboard.ts'
import { WorkerProcess } from './workerProcess.ts'

/**
 * Two gateways, and a client for each agent at the first of them, which is killed, or frozen until all is answered, in the middle of all replies.
 * Clients connect again and come to the other one; `faults` has also what they did not hear, or heard twice.
 */
export async function runGatewayCell(
  { agents, isFrozen = false }: { readonly agents: number; readonly isFrozen?: boolean },
  { engine, dir, database }: CellPlace,
): Promise<CellResult> {
  const name = `job_${randomUUID().replaceAll('-', '')}`
  const effectsFile = join(dir, `${name}.effects`)
  const where = database === undefined ? join(dir, `${name}.db`) : database.url(await database.newDatabase())
  const store = storeAt(where)
  const front = await Switchboard.open()
  const { ingress } = engine
  const worker = WorkerProcess.worker({ where, name, effectsFile, armed: 'reply', ingress })
  const gateways = [WorkerProcess.gateway(where), WorkerProcess.gateway(where)] as const
  const ids = Array.from({ length: agents }, (_, index) => `${name.slice(4, 12)}-${index}`)
  const clients: Client[] = []
  try {
    await register(engine, await worker.url())
    const [first, second] = gateways
    const ports = [await first.port(), await second.port()] as const
    front.switchTo(ports[0])
    const began = performance.now()
    const prompts = contentsFor('reply', 2)
    const talks = ids.map(async (id) => {
      const client = connect(`${front.url.replace('http', 'ws')}/bridge`)
      clients.push(client)
      return await talk(client, id, prompts)
    })
    await worker.at(talks.map((answers) => ({ answers })))
    if (isFrozen) first.signal('SIGSTOP')
    else await first.kill()
    front.switchTo(ports[1])
    worker.goOn()
    const talked = await Promise.all(talks)
    const slowestMs = performance.now() - began
    if (isFrozen) first.signal('SIGCONT')
    const seen = await judge({ store, ids, prompts: prompts.length, effectsFile })
    const logs = await logsOf(store, ids)
    const unheard = await Promise.all(
      talked.map(({ heard }, index) => misheard(heard, ids[index]!, logs[index]!.length)),
    )
    return {
      ...seen,
      faults: [...seen.faults, ...unheard.flat()],
      wanted: agents * prompts.length,
      answers: talked.flatMap(({ answers }) => answers).filter((text) => text === 'done').length,
      slowestMs,
    }
  } finally {
    for (const client of clients) client.close()
    await Promise.all([worker, ...gateways].map((process) => process.kill()))
    await front.close()
    await store.close()
  }
}

async function talk(
  client: Client,
  id: string,
  prompts: readonly string[],
): Promise<{ readonly heard: Heard; readonly answers: readonly string[] }> {
  const agent = await client.spawn('job', { id })
  const heard = new Heard()
  agent.subscribe(heard.listen, { fromSeq: 1 })
  const answers: string[] = []
  for (const content of prompts) answers.push((await agent.prompt(content).result).text)
  return { heard, answers }
}

/** Records that a client was not told, or twice, in words. */
async function misheard(heard: Heard, agentId: string, last: number): Promise<string[]> {
  await heard.until((event) => event.seq === last && heard.logged.at(-1) === event)
  return heard.logged.flatMap(({ seq }, index) =>
    seq === index + 1 ? [] : [`${agentId}: a client heard record ${seq} in place of ${index + 1}`],
  )
}
