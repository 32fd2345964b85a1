import type { Server, ServerContext } from '@modelcontextprotocol/server'
import type { AgentAccess } from '../../../bridge/src/server/agentAccess.ts'
import type { Sdk, ServerParts, ServerUse } from './serverParts.ts'
import { listStates, readState, stateTemplates, WatchedStates } from './stateResources.ts'

/** Offers the state of sessions as resources. Clients before 2026-07-28 subscribe to each; later ones listen through their transports. */
export function offerStates(server: Server, { sdk, tools }: ServerParts, use: ServerUse, closed: AbortSignal): void {
  const accessOf = (ctx: ServerContext): AgentAccess => use.visitOf(ctx).access
  server.setRequestHandler('resources/list', (_, ctx) => ({ resources: listStates(tools, accessOf(ctx)) }))
  server.setRequestHandler('resources/templates/list', (_, ctx) => ({
    resourceTemplates: accessOf(ctx).may('see.all') ? [...stateTemplates] : [],
  }))
  server.setRequestHandler('resources/read', ({ params: { uri } }, ctx) => {
    const access = accessOf(ctx)
    return outward(sdk, access, () => readState(tools, access, uri))
  })
  if (use.era === 'modern') return
  const watched = new WatchedStates(tools, (uri) => void server.sendResourceUpdated({ uri }).catch(() => {}))
  server.setRequestHandler('resources/subscribe', async ({ params: { uri } }, ctx) => {
    const access = accessOf(ctx)
    await outward(sdk, access, () => watched.add(access, uri))
    return {}
  })
  server.setRequestHandler('resources/unsubscribe', ({ params: { uri } }) => {
    watched.remove(uri)
    return {}
  })
  closed.addEventListener('abort', () => watched.close())
}

async function outward<T>(sdk: Sdk, access: AgentAccess, make: () => Promise<T>): Promise<T> {
  try {
    return await make()
  } catch (thrown) {
    throw new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, refusalOf(access, thrown))
  }
}

/** Returns a refusal as text, with its code. */
export function refusalOf(access: AgentAccess, thrown: unknown): string {
  const { message, code } = access.outward(thrown)
  return `${message} (${code})`
}
