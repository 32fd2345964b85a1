// A desk for customers and staff: customers talk with an agent of their own and see what is said; what would pay money back is approved by staff,
// who see everything. All of it goes on over reconnects and restarts.
import type { IncomingMessage, Server } from 'node:http'
import { z } from 'zod'
import { createRuntime, defineAgent, defineTool, type Grant, type Model, type Store } from '../../../src/index.ts'

const input = z.object({ order: z.string() })
const run = () => 'It was paid back.'
const refund = defineTool({ name: 'refund', description: 'Pays an order back.', input, needsApproval: true, run })

/** Who somebody is, by the login of the application. */
export interface User {
  readonly id: string
  readonly isStaff: boolean
}

const grantOf = ({ id, isStaff }: User): Grant =>
  isStaff
    ? { may: ['see.all', 'talk', 'answer.own', 'approve'], owner: id }
    : { role: 'talk', metadata: { customer: id }, owner: id }

/** Serves it beside the routes of a server of the application. `userOf`: whose a request is. */
export async function serveDesk(
  server: Server,
  model: Model,
  store: Store,
  userOf: (request: IncomingMessage) => User | undefined,
) {
  const desk = defineAgent({ name: 'desk', instructions: 'You help customers.', model, tools: [refund] })
  const runtime = await createRuntime({ store, idleUnloadMs: 60_000 })
  const authenticate = (request: IncomingMessage): Grant | null => {
    const user = userOf(request)
    return user === undefined ? null : grantOf(user)
  }
  await runtime.serve({ server, definitions: [desk], authenticate })
  await runtime.resumeAll({ definitions: [desk] })
  /** The conversation of a customer, which they cannot begin themselves: so they have one, with what it is to have. */
  const conversationOf = async ({ id }: User): Promise<string> =>
    (await runtime.open(`desk-${id}`, desk, { metadata: { customer: id } })).id
  return { runtime, conversationOf }
}
