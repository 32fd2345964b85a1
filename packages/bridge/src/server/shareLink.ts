import { RuntimeError } from '../../../../src/protocol/errors.ts'
import { Agent } from '../../../../src/runtime/agents/agent.ts'
import type { AgentAccess } from './agentAccess.ts'
import type { Bridge } from './bridge.ts'

export interface ShareOptions {
  /** Validity in milliseconds: from a second to 30 days. Default: a day. */
  readonly ms?: number
}

/** A read-only token, and its expiry. */
export interface SharedToken {
  readonly token: string
  /** Expiry in epoch milliseconds. */
  readonly expiresAt: number
}

const dayMs = 24 * 60 * 60 * 1_000
const shareMs = { least: 1_000, most: 30 * dayMs }

/**
 * Creates a token whose bearer can see an agent and its descendants until it expires, but nothing that its creator cannot see. Rejects
 * with `INVALID_OPTION`, also if every client may do everything anyway, `AGENT_NOT_FOUND`, `BRIDGE_FORBIDDEN`, `AGENT_INCOGNITO`.
 */
export async function share(
  bridge: Bridge,
  access: AgentAccess,
  agentId: string,
  { ms = dayMs }: ShareOptions = {},
): Promise<SharedToken> {
  if (!Number.isSafeInteger(ms) || ms < shareMs.least || ms > shareMs.most)
    throw new RuntimeError('INVALID_OPTION', `share: ms is ${ms}: give 1,000 (a second) to 2,592,000,000 (30 days).`)
  if (!bridge.authenticator.isGuarded)
    throw new RuntimeError(
      'INVALID_OPTION',
      'share: this server has neither tokens nor authenticate, so that whoever reaches it may do everything anyway.',
    )
  const found = await bridge.agents.runningOrStored(agentId, access)
  if (found instanceof Agent && found.incognito)
    throw new RuntimeError('AGENT_INCOGNITO', `Agent "${agentId}" is seen by nobody else.`)
  access.checkAdmitted()
  const expiresAt = bridge.clock.now() + ms
  return { token: bridge.shares.mint({ agentId, metadata: access.metadata, expiresAt }), expiresAt }
}
