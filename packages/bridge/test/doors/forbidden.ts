import { rightsOf, rightsOfRole, type Right } from '../../../wire/src/rights.ts'
import { rightSchema } from '../../../wire/src/rightsSchema.ts'
import { assert } from '../../../../test/support/suite.ts'
import { operations, type Operation } from './operations.ts'
import {
  agents,
  mayAll,
  reached,
  secrets,
  tokenOf,
  type AgentName,
  type Client,
  type Reaching,
  type World,
} from './world.ts'

/** A client, an operation and an agent. */
export interface Attempt {
  readonly client: Client
  readonly operation: Operation
  readonly agent: AgentName
  readonly isThroughGateway: boolean
}

/** Numbers from 0 to 1, the same for a seed. */
function numbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const reachings: readonly Reaching[] = ['all', 'ids', 'metadata', 'function by id', 'function by metadata']

/** Attempts made up of a seed. */
export function* attempts(seed: number, count: number): Generator<Attempt, void, undefined> {
  const random = numbers(seed)
  const one = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)]!
  for (let made = 0; made < count; made += 1) {
    const may: readonly Right[] =
      random() < 0.4 ? one(Object.values(rightsOfRole)) : rightSchema().options.filter(() => random() < 0.5)
    const client: Client = { may, reaching: one(reachings), ...(random() < 0.5 ? { owner: one(['ann', 'ben']) } : {}) }
    yield { client, operation: one(operations), agent: one(agents), isThroughGateway: random() < 0.4 }
  }
}

/** Tells if the table lets a client do this. */
function isAllowed({ client, operation, agent }: Attempt): boolean {
  const { needs: most, isOfAgent, saysYes, wakes } = operation
  const needs = agent.endsWith('asleep') ? (wakes ?? most) : most
  const decides = (['approve', 'answer.own'] as const).some((right) => mayAll(client, ['see.messages', right]))
  return (mayAll(client, needs) || (saysYes === true && decides)) && (!isOfAgent || reached(client, agent))
}

export const nameOf = ({ client, operation, agent, isThroughGateway }: Attempt): string =>
  `${operation.door} "${operation.name}" of ${agent}${isThroughGateway ? ' through a gateway' : ''} by ${JSON.stringify(client)}`

/** Checks the answer to a client that the table does not let see it. */
function checkShown(text: string, one: Attempt): void {
  const { client } = one
  const rights = rightsOf(client)
  const see = (canary: string, isAllowedToSee: boolean): void =>
    assert.ok(isAllowedToSee || !text.includes(canary), `${nameOf(one)} shows ${canary}: ${text.slice(0, 3_000)}`)
  for (const secret of secrets) see(secret, rights.has('see.all'))
  see('CANARY-client', rights.has('see.all') || (rights.has('see.messages') && rights.has('answer.own')))
  see('CANARY-purpose', rights.has('spawn'))
  for (const words of ['WORDS-user', 'WORDS-reply', 'WORDS-question']) see(words, rights.has('see.messages'))
  see('FOREIGN', client.reaching === 'all')
  see('HIDDEN', false)
  const asked = text.split('\n').filter((line) => line.includes('session/request_permission'))
  const isApproval = asked.some((line) => line.includes('"name":"pay"'))
  assert.ok(rights.has('approve') || !isApproval, `${nameOf(one)} is asked for an approval`)
}

/**
 * Makes an attempt, and checks that nothing is carried out, shown or woken that the table forbids. What it allows and changes something
 * is left out: `false`.
 */
export async function attempt(world: World, one: Attempt): Promise<boolean> {
  const { client, operation, agent, isThroughGateway } = one
  if (operation.changes && isAllowed(one)) return false
  const before = await world.state()
  const place = isThroughGateway ? world.gateway : world.server
  const asking = { place, token: tokenOf(client), agent, keys: world.keysOf(agent) }
  const text = await operation.ask(asking).catch((thrown: unknown) => `failed: ${String(thrown)}`)
  checkShown(text, one)
  assert.is(await world.state(), before, `${nameOf(one)} changes something: ${text.slice(0, 3_000)}`)
  return true
}
