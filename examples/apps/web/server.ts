// A chat for many users: each sees their own agents, over reconnects and restarts.
import {
  createRuntime,
  defineAgent,
  type BridgeServer,
  type Model,
  type Runtime,
  type Store,
} from '../../../src/index.ts'

/** Serves a support agent. `userOf`: whose cookie or token it is. */
export async function startServer(
  model: Model,
  store: Store,
  userOf: (credentials: string | undefined) => string | undefined,
): Promise<{ readonly runtime: Runtime; readonly server: BridgeServer }> {
  const runtime = await createRuntime({ store, idleUnloadMs: 60_000 })
  const server = await runtime.serve({
    port: Number(process.env['PORT'] ?? 0),
    definitions: [defineAgent({ name: 'support', instructions: 'You help customers.', model })],
    authenticate: (request, token) => {
      const userId = userOf(token ?? request.headers.cookie)
      return userId === undefined ? null : { role: 'admin', metadata: { userId } }
    },
  })
  return { runtime, server }
}
