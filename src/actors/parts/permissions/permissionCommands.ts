import { RuntimeError } from '../../../protocol/errors.ts'
import { alwaysId } from '../../../protocol/parts/permissions/permissionModes.ts'
import type { GrantedRule } from '../../../protocol/parts/permissions/permissionState.ts'
import type { Grant } from '../../../protocol/parts/permissions/permissionRecords.ts'
import type { ApplyCommand, PartCommandContext } from '../applyCommand.ts'
import { readRule } from './rules.ts'

type Asked = Pick<PartCommandContext, 'agentId' | 'definition' | 'isGoverned'>

/** Checks that the agent has permissions. @throws RuntimeError `PERMISSIONS_OFF` */
function checkOn({ agentId, isGoverned }: Asked): void {
  if (!isGoverned) throw new RuntimeError('PERMISSIONS_OFF', `Agent "${agentId}" has no permissions.`)
}

/**
 * Checks a rule that a person adds.
 *
 * @throws RuntimeError `PERMISSIONS_OFF`, `RULE_INVALID`, `RULE_STORE_MISSING`
 */
export function checkGrant(asked: Asked, { rule, scope }: Grant): void {
  checkOn(asked)
  const wrong = readRule(rule)
  if (typeof wrong === 'string') throw new RuntimeError('RULE_INVALID', `Agent "${asked.agentId}": ${wrong}.`)
  const { permissions } = asked.definition
  if (scope === 'always' && !permissions.some(({ store }) => store !== undefined))
    throw new RuntimeError('RULE_STORE_MISSING', `Agent "${asked.agentId}" has no store of rules that hold always.`)
}

export const permit: ApplyCommand<'agent.permit'> = ({ rule: said, decision = 'allow', for: scope }, context) => {
  const rule = said.trim()
  checkGrant(context, { rule, scope })
  const isSame = (grant: GrantedRule): boolean =>
    scope === 'session' && grant.scope === scope && grant.rule === rule && grant.decision === decision
  if (context.parts.permissions?.grants.some(isSame) === true) return []
  const id = scope === 'always' ? alwaysId(decision, rule) : context.id
  return [{ type: 'permission.granted', id, rule, decision, scope, by: 'person', requestId: context.id }]
}

export const revoke: ApplyCommand<'agent.revoke'> = ({ grant: id }, context) => {
  checkOn(context)
  const grants = context.parts.permissions?.grants ?? []
  if (!grants.some((grant) => grant.id === id)) {
    const there = grants.map((grant) => JSON.stringify(grant.id)).join(', ') || 'none'
    const what = `Agent "${context.agentId}" has no added rule with the id ${JSON.stringify(id)}`
    throw new RuntimeError('RULE_NOT_FOUND', `${what} (there: ${there}).`)
  }
  return [{ type: 'permission.revoked', id, by: 'person', requestId: context.id }]
}

export const changeMode: ApplyCommand<'agent.mode'> = ({ mode }, context) => {
  checkOn(context)
  return [{ type: 'mode.changed', mode, by: 'person', requestId: context.id }]
}
