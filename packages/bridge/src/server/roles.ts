import type { Agent } from '../../../../src/runtime/agents/agent.ts'
import { callbackBugs } from '../../../../src/protocol/callbackBugs.ts'
import { createHash, timingSafeEqual } from 'node:crypto'
import { nanoid } from 'nanoid'
import { z } from 'zod'
import { onlyFields } from '../../../../src/protocol/checks/onlyFields.ts'
import { lazily } from '../../../../src/protocol/lazily.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import { allRights, rightsOf, type Right, type Role } from '../../../wire/src/rights.ts'
import { rightSchema, roleSchema } from '../../../wire/src/rightsSchema.ts'
import { agentIdSchema } from '../../../../src/protocol/ids.ts'
import { hasMetadata, metadataSchema, type Metadata } from '../../../../src/protocol/metadata.ts'

/** The properties of an agent that decide which clients may see it. */
export type Reached = Pick<Agent, 'id' | 'path' | 'metadata'>

/** The agents within a client's reach, and the client's identity. */
interface Reaching {
  /** Agents that the client may see and drive, including their descendants, by ids or by a function. Default: all. */
  readonly agents?: readonly string[] | ((agent: { readonly id: string; readonly metadata: Metadata }) => boolean)
  /** Metadata that agents must have. Agents that the client spawns get it. Default: all agents. */
  readonly metadata?: Metadata
  /**
   * Identity of the client, such as a user id. Sessions are separated by it, and limits are shared. If `authenticate`
   * gives none, a session ends with its connection unless the client has a key of its own for it.
   */
  readonly owner?: string
}

/** The rights of a client, as a role or one by one, and the agents that they are for. */
export type Grant = Reaching &
  ({ readonly role: Role; readonly may?: never } | { readonly may: readonly Right[]; readonly role?: never })

export const grantSchema = lazily(() =>
  onlyFields({
    role: roleSchema().exactOptional(),
    may: z.array(rightSchema()).readonly().exactOptional(),
    agents: z
      .union([z.array(agentIdSchema()), z.custom((value) => typeof value === 'function')], 'give ids, or a function')
      .exactOptional(),
    metadata: metadataSchema().exactOptional(),
    owner: z.string().min(1).max(256).exactOptional(),
  }).refine(({ role, may }) => (role === undefined) !== (may === undefined), 'give either a role, or rights as "may"'),
)

/** Grants by token. */
export type Tokens = { readonly [token: string]: Role | Grant }

/** Minimum length of a token, in characters. */
export const minTokenLength = 16

/** Returns true if a grant allows everything. */
export const isUnlimited = (grant: Grant): boolean =>
  rightsOf(grant).size === allRights.length && grant.agents === undefined && grant.metadata === undefined

/** Returns true if a client may see and drive an agent. */
export type Reach = (agent: Reached) => boolean

const nothing: Metadata = Object.freeze({})

type Chooser = Extract<NonNullable<Grant['agents']>, (agent: never) => boolean>

/** Calls a function of the application. If it throws, the agent is not chosen. */
function isChosen(choose: Chooser, agent: Parameters<Chooser>[0]): boolean {
  try {
    // A promise, of a function that should not be asynchronous, is no yes.
    const chosen: unknown = choose(agent)
    return chosen === true
  } catch (thrown) {
    callbackBugs.tell('agents of a grant', thrown)
    return false
  }
}

/** Returns true if a grant reaches an agent: the agent has the grant's metadata, and the agent or an ancestor is one of the grant's agents. */
export function reaches({ agents, metadata }: Grant, agent: Reached): boolean {
  if (metadata !== undefined && !hasMetadata(agent.metadata, metadata)) return false
  if (agents === undefined) return true
  const isOne =
    typeof agents === 'function'
      ? (id: string): boolean => isChosen(agents, { id, metadata: agent.metadata ?? nothing })
      : (id: string): boolean => agents.includes(id)
  return isOne(agent.id) || agent.path.some(isOne)
}

/** Returns the error for an agent out of reach. A client with a list of ids is told so; for any other client the agent does not seem to exist. */
export const outOfReach = ({ agents }: Grant, id: string): RuntimeError =>
  Array.isArray(agents) && !agents.includes(id)
    ? new RuntimeError('BRIDGE_FORBIDDEN', `This token does not reach agent "${id}".`)
    : new RuntimeError('AGENT_NOT_FOUND', `There is no agent "${id}" here.`)

/** Returns the error for a new agent out of reach, and for an id that an agent out of reach has. The two cases look the same. */
export const newOutOfReach = (): RuntimeError =>
  new RuntimeError('BRIDGE_FORBIDDEN', 'This token reaches certain agents only, and the new one is not among them.')

/** Names of functions that choose agents, because it is impossible to tell whether two of them choose the same agents. */
const chooserNames = new WeakMap<Chooser, string>()

function nameOf(choose: Chooser): string {
  const name = chooserNames.get(choose) ?? nanoid()
  chooserNames.set(choose, name)
  return name
}

const textOf = (grant: Grant, chosen: unknown): string => {
  const { metadata = {}, owner } = grant
  const whose = Object.entries(metadata).toSorted(([one], [other]) => (one < other ? -1 : 1))
  return JSON.stringify([[...rightsOf(grant)].toSorted(), chosen, whose, owner])
}

/** Returns a grant as text: the same for grants with the same rights. Two functions never count as the same. */
export const identityOf = (grant: Grant): string =>
  textOf(grant, typeof grant.agents === 'function' ? { function: nameOf(grant.agents) } : grant.agents)

/** Returns true if a client is granted the same rights as before when the application is asked again, even by a new function. */
export function isStillGranted(next: Grant, before: Grant): boolean {
  const [one, other] = [next, before].map((grant) =>
    textOf(grant, typeof grant.agents === 'function' ? 'function' : grant.agents),
  )
  return one === other
}

/** Returns true if two grants give the same rights. */
export const isSameGrant = (one: Grant | undefined, other: Grant | undefined): boolean =>
  one === undefined || other === undefined ? one === other : identityOf(one) === identityOf(other)

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/**
 * Finds the grant of a token. Compares with every token, each in constant time over digests of equal length, so that timing does not
 * reveal how close a guess was.
 */
export function grantOf(tokens: Tokens, given: string): Grant | undefined {
  const seen = digest(given)
  let found: Grant | undefined
  for (const [token, grant] of Object.entries(tokens)) {
    // The application may have added it since `serve` looked at them.
    if (token.length < minTokenLength) continue
    if (timingSafeEqual(digest(token), seen)) found = typeof grant === 'string' ? { role: grant } : grant
  }
  return found
}
