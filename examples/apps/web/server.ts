// A chat for many users: each talks with an agent of their own, over reconnects and restarts, and can do nothing else with it.
import {
  createRuntime,
  defineAgent,
  type Agent,
  type BridgeServer,
  type Model,
  type Runtime,
  type Store,
} from '../../../src/index.ts'

interface Desk {
  readonly runtime: Runtime
  readonly server: BridgeServer
  /** The conversation of a user. Call it where you know who that is, such as in a route behind your login. */
  conversationOf(userId: string): Promise<Agent>
}

/** Serves a support agent. `userOf`: whose cookie or token it is. */
export async function startServer(
  model: Model,
  store: Store,
  userOf: (credentials: string | undefined) => string | undefined,
): Promise<Desk> {
  const runtime = await createRuntime({ store, idleUnloadMs: 60_000 })
  const support = defineAgent({ name: 'support', instructions: 'You help customers.', model })
  const server = await runtime.serve({
    port: Number(process.env['PORT'] ?? 0),
    definitions: [support],
    authenticate: (request, token) => {
      const userId = userOf(token ?? request.headers.cookie)
      return userId === undefined ? null : { role: 'talk', metadata: { userId }, owner: userId }
    },
  })
  await runtime.resumeAll({ definitions: [support] })
  const conversationOf = (userId: string): Promise<Agent> =>
    runtime.open(`support-${userId}`, support, { metadata: { userId } })
  return { runtime, server, conversationOf }
}
