import type { AgentPermissions, PermissionLayer } from '../../actors/parts/permissions/agentPermissions.ts'
import { checkGrant } from '../../actors/parts/permissions/permissionCommands.ts'
import { readRule, type Rule } from '../../actors/parts/permissions/rules.ts'
import { storeIn, syncRules } from '../../actors/parts/permissions/syncRules.ts'
import type { AgentPorts } from '../../actors/agentPorts.ts'
import type { AgentDefinition } from '../../actors/define/agentDefinition.ts'
import type { PartStates } from '../../machines/partStates.ts'
import type { GrantedRule, Permissions } from '../../protocol/parts/permissions/permissionState.ts'
import { RuntimeError } from '../../protocol/errors.ts'
import type { Grant } from '../../protocol/parts/permissions/permissionRecords.ts'
import type { Pending } from '../../protocol/runs/pending.ts'
import type { PermissionMode } from '../../protocol/parts/permissions/permissionModes.ts'

interface Governed {
  readonly parent: Governed | undefined
  readonly view: { readonly definition: AgentDefinition }
  readonly machine: { readonly context: { readonly parts: PartStates } }
}

const none: readonly never[] = Object.freeze([])

/** Returns the permissions of an agent in the form shown to people; `null` without `permissions`. */
export function shownPermissions(agent: Governed): Permissions | null {
  const permissions = permissionsOf(agent)
  if (permissions === undefined) return null
  const { layers, own } = permissions
  const textsOf = (list: 'deny' | 'ask' | 'allow'): readonly string[] =>
    layers.flatMap((layer) => layer[list].map(({ text }) => text))
  return {
    mode: own.mode,
    rules: { deny: textsOf('deny'), ask: textsOf('ask'), allow: textsOf('allow') },
    grants: own.grants.map(({ id, rule, decision, scope, seq }) => ({ id, rule, decision, scope, seq })),
    hasStore: storeIn(agent.view.definition.permissions) !== undefined,
  }
}

/** Stores the rules that people added and revoked in the rule store, if there are any. A failure is made up for in the next run. */
export function keepRules(ports: AgentPorts): void {
  const { grants = none, revoked = none } = ports.parts.permissions ?? {}
  if (revoked.length === 0 && !grants.some(({ isNew }) => isNew === true)) return
  syncRules(ports).catch((thrown: unknown) => ports.callbackFailed?.('permissions.store', thrown))
}

/** Returns the agent's current permissions, including the rules of agents above it; `undefined` if there are none. */
export function permissionsOf(agent: Governed): AgentPermissions | undefined {
  if (!isGoverned(agent)) return undefined
  const above = agent.parent === undefined ? undefined : permissionsOf(agent.parent)
  const from: MadeFrom = [above, agent.view.definition.permissions, agent.machine.context.parts.permissions]
  const known = made.get(agent)
  if (known?.from.every((part, index) => part === from[index]) === true) return known.permissions
  const permissions = madeOf(from)
  made.set(agent, { from, permissions })
  return permissions
}

/** Sources of an agent's permissions: the agent above, the definition and people's rules. Each is a new object once changed. */
type MadeFrom = readonly [
  above: AgentPermissions | undefined,
  permissions: AgentDefinition['permissions'],
  said: PartStates['permissions'],
]

const made = new WeakMap<Governed, { readonly from: MadeFrom; readonly permissions: AgentPermissions }>()

function madeOf([above, permissions, state]: MadeFrom): AgentPermissions {
  const inherited = above?.own.mode ?? 'ask'
  const { mode: said = null, before = null, grants = none } = state ?? {}
  const defined = permissions.find(({ mode }) => mode !== undefined)?.mode ?? inherited
  const layers = permissions.map(({ mode = said, deny, ask, allow }): PermissionLayer => ({
    mode: said ?? mode ?? inherited,
    ...(mode === null ? { inheritsMode: true } : {}),
    deny,
    ask,
    allow,
  }))
  // A definition without rules may still be given a mode.
  const bare = layers.length > 0 || said === null ? none : [{ mode: said, deny: none, ask: none, allow: none }]
  return {
    layers: [...(above?.layers ?? none), ...layers, ...bare],
    granted: [...(above?.granted ?? none), ...rulesOf(grants, 'allow')],
    denied: [...(above?.denied ?? none), ...rulesOf(grants, 'deny')],
    own: { mode: said ?? defined, before: besidePlan(before ?? defined), grants },
  }
}

/**
 * Checks a rule that is added along with a decision about a call of `owner`.
 *
 * @throws RuntimeError `PERMISSIONS_OFF`, `RULE_INVALID`, `RULE_STORE_MISSING`, `ANSWER_INVALID`
 */
export function checkDecisionGrant(
  owner: Governed & { readonly agentId: string },
  kind: Pending['kind'],
  grant: Grant,
): void {
  if (kind !== 'approval')
    throw new RuntimeError(
      'ANSWER_INVALID',
      `Agent "${owner.agentId}": only the decision about an approval can add a rule.`,
    )
  const { definition } = owner.view
  checkGrant({ agentId: owner.agentId, definition, isGoverned: isGoverned(owner) }, grant)
}

/** Returns true if a rule can be added to an agent. */
export const mayKeep = (agent: Governed, { scope }: Grant): boolean =>
  isGoverned(agent) && (scope === 'session' || storeIn(agent.view.definition.permissions) !== undefined)

/** Returns true if rules decide about the agent's calls. */
export const isGoverned = ({ view, parent }: Pick<Governed, 'view' | 'parent'>): boolean =>
  view.definition.permissions.length > 0 || (parent !== undefined && isGoverned(parent))

const besidePlan = (mode: PermissionMode): PermissionMode => (mode === 'plan' ? 'ask' : mode)

const read = new WeakMap<GrantedRule, readonly Rule[]>()

/** Returns the rules that people added. Leaves out a rule that another version wrote and this one cannot read. */
const rulesOf = (grants: readonly GrantedRule[], decision: GrantedRule['decision']): readonly Rule[] =>
  grants.flatMap((grant) => (grant.decision === decision ? ruleOf(grant) : none))

function ruleOf(grant: GrantedRule): readonly Rule[] {
  const known = read.get(grant)
  if (known !== undefined) return known
  const rule = readRule(grant.rule)
  const rules = typeof rule === 'string' ? none : [rule]
  read.set(grant, rules)
  return rules
}
