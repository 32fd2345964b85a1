// A desk for many users: each sees their own agents, over reconnects and restarts, and nothing is paid back before a person allows it.
import type { IncomingMessage, Server } from 'node:http'
import { z } from 'zod'
import { createRuntime, defineAgent, defineTool, type Model, type Store } from '../../../src/index.ts'

const input = z.object({ order: z.string() })
const run = () => 'It was paid back.'
const refund = defineTool({ name: 'refund', description: 'Pays an order back.', input, needsApproval: true, run })

const grant = (userId?: string) => (userId === undefined ? null : { role: 'admin' as const, metadata: { userId } })

/** Serves it beside the routes of a server of the application. `users`: whose a cookie is. */
export async function serveDesk(server: Server, model: Model, store: Store, users: ReadonlyMap<string, string>) {
  const desk = defineAgent({ name: 'desk', instructions: 'You help customers.', model, tools: [refund] })
  const runtime = await createRuntime({ store, idleUnloadMs: 60_000 })
  const authenticate = ({ headers }: IncomingMessage) => grant(users.get(headers.cookie ?? ''))
  await runtime.serve({ server, definitions: [desk], authenticate })
  return runtime
}
