import { z } from 'zod'
import { messageOf, RuntimeError } from '../../../protocol/errors.ts'
import { lazily } from '../../../protocol/lazily.ts'
import { alwaysId } from '../../../protocol/parts/permissions/permissionModes.ts'
import type { RuleStore, StoredRule } from '../../../protocol/ports/ruleStore.ts'
import type { PartDraft } from '../../../machines/partStates.ts'
import type { AgentPorts } from '../../agentPorts.ts'
import type { PermissionSettings } from './permissionOptions.ts'

const storedSchema = lazily(() => z.array(z.object({ rule: z.string(), decision: z.enum(['allow', 'deny']) })))

type Syncing = Pick<AgentPorts, 'parts' | 'record' | 'durable' | 'definition' | 'ownDefinition'>

/** Returns the store of rules of a definition; `undefined` if it has none. */
export const storeIn = (permissions: readonly PermissionSettings[]): RuleStore | undefined =>
  permissions.find(({ store }) => store !== undefined)?.store

const lastOf = new WeakMap<object, Promise<void>>()
const runOf = new WeakMap<object, string>()

/** Synchronises an agent's log with its store of rules, once in a run. Rejects with `RULE_STORE_FAILED`. */
export async function syncOnce(ports: Syncing, runId: string): Promise<void> {
  if (runOf.get(ports) === runId) return lastOf.get(ports)
  await syncRules(ports)
  runOf.set(ports, runId)
}

/**
 * Gives the store of rules the changes that people made according to the log, and records the store's rules from elsewhere.
 * Calls are thus judged by the log, and a crash between the two loses nothing. Runs one at a time for an agent.
 */
export function syncRules(ports: Syncing): Promise<void> {
  const store = storeIn(ports.definition.permissions)
  if (store === undefined) return Promise.resolve()
  const before = lastOf.get(ports) ?? Promise.resolve()
  const synced = before.catch(() => {}).then(() => sync(ports, store))
  lastOf.set(ports, synced)
  return synced
}

async function sync(ports: Syncing, store: RuleStore): Promise<void> {
  const { name } = ports.ownDefinition
  const { grants = [], revoked = [] } = ports.parts.permissions ?? {}
  let stored: readonly StoredRule[]
  try {
    for (const { rule, decision, isNew } of grants) if (isNew === true) await store.add(name, { rule, decision })
    for (const { rule, decision } of revoked) await store.remove(name, { rule, decision })
    stored = storedSchema().parse(await store.read(name))
  } catch (thrown) {
    throw new RuntimeError(
      'RULE_STORE_FAILED',
      `The store of rules of agent definition "${name}" failed: ${messageOf(thrown)}.`,
      {
        cause: thrown,
      },
    )
  }
  const news = newsOf(ports, stored, new Set(revoked.map(({ id }) => id)))
  if (news.length === 0) return
  ports.record(news)
  await ports.durable()
}

/** Returns the records of the differences between the store and the log. `removed`: ids that the store was just told to remove. */
function newsOf({ parts }: Syncing, stored: readonly StoredRule[], removed: ReadonlySet<string>): readonly PartDraft[] {
  const { grants = [], revoked = [] } = parts.permissions ?? {}
  const always = grants.filter(({ scope }) => scope === 'always')
  const confirmed = new Set(always.flatMap(({ id, isNew }) => (isNew === true ? [] : [id])))
  // What was taken back meanwhile is for the next time.
  const gone = new Set(revoked.map(({ id }) => id))
  const there = stored.map(({ rule, decision }) => ({ id: alwaysId(decision, rule), rule, decision }))
  const ids = new Set(there.map(({ id }) => id))
  return [
    ...there
      .filter(({ id }) => !confirmed.has(id) && !gone.has(id))
      .map((one) => ({ type: 'permission.granted', ...one, scope: 'always', by: 'store' }) as const),
    ...[...[...confirmed].filter((id) => !ids.has(id)), ...[...gone].filter((id) => removed.has(id))].map(
      (id) => ({ type: 'permission.revoked', id, by: 'store' }) as const,
    ),
  ]
}
