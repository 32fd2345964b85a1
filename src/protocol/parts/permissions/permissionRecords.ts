import { z } from 'zod'
import { toAgent } from '../../bridge/toAgent.ts'
import { onlyFields } from '../../checks/onlyFields.ts'
import { lazily } from '../../lazily.ts'
import { inTurn } from '../../recordShapes.ts'
import { permissionModes } from './permissionModes.ts'

/** Scope of a person's rule: this log, or wherever the agent's definition is used with its store of rules. */
export const grantScopeSchema = lazily(() => z.enum(['session', 'always']))
export type GrantScope = z.infer<ReturnType<typeof grantScopeSchema>>

const ruleSchema = lazily(() => z.string().min(1).max(2_100))

/** A rule that a person adds along with a decision about a call. The decision then holds for all calls that the rule matches. */
export const grantSchema = lazily(() => onlyFields({ rule: ruleSchema(), scope: grantScopeSchema() }))
export type Grant = z.infer<ReturnType<typeof grantSchema>>

/** Origin of the change. `store`: the store of rules has the rule, or no longer has it. */
const by = lazily(() => ({ by: z.enum(['person', 'store']), requestId: z.string().exactOptional() }))

export const permissionRecords = {
  /** A new rule: calls that it matches run, or are denied. */
  'permission.granted': () =>
    z.object({
      ...inTurn(),
      type: z.literal('permission.granted'),
      /** Id for revoking the rule. Adding a rule again replaces the one with the same id. */
      id: z.string(),
      rule: z.string(),
      decision: z.enum(['allow', 'deny']),
      scope: grantScopeSchema(),
      ...by(),
    }),
  'permission.revoked': () => z.object({ ...inTurn(), type: z.literal('permission.revoked'), id: z.string(), ...by() }),
  'mode.changed': () =>
    z.object({
      ...inTurn(),
      type: z.literal('mode.changed'),
      mode: z.enum(permissionModes),
      /** Origin of the change. `plan`: people accepted the model's plan. */
      by: z.enum(['person', 'plan']),
      requestId: z.string().exactOptional(),
    }),
} as const

export const permissionCommands = {
  /** Adds a rule for calls. */
  'agent.permit': () =>
    onlyFields({
      ...toAgent(),
      type: z.literal('agent.permit'),
      rule: ruleSchema(),
      /** Decision about calls that the rule matches. Default `allow`. */
      decision: z.enum(['allow', 'deny']).exactOptional(),
      for: grantScopeSchema(),
    }),
  /** Revokes a rule. `grant` is its id. */
  'agent.revoke': () => onlyFields({ ...toAgent(), type: z.literal('agent.revoke'), grant: z.string() }),
  'agent.mode': () => onlyFields({ ...toAgent(), type: z.literal('agent.mode'), mode: z.enum(permissionModes) }),
} as const

/** Options for adding a rule. */
export interface PermitOptions {
  /** Scope of the rule. `session`: this log. `always`: wherever the definition is used with its store of rules. */
  readonly for: GrantScope
  /** Decision about calls that the rule matches. Default `'allow'`. */
  readonly decision?: 'allow' | 'deny' | undefined
}
