import { z } from 'zod'
import { toAgent } from '../../bridge/toAgent.ts'
import { onlyFields } from '../../checks/onlyFields.ts'
import { lazily } from '../../lazily.ts'
import { inTurn } from '../../recordShapes.ts'
import { permissionModes } from './permissionModes.ts'

/** For how long a rule of a person holds: in this log, or wherever the agent's definition is used with its store of rules. */
export const grantScopeSchema = lazily(() => z.enum(['session', 'always']))
export type GrantScope = z.infer<ReturnType<typeof grantScopeSchema>>

const ruleSchema = lazily(() => z.string().min(1).max(2_100))

/** A rule that a person adds along with a decision about a call: what the decision says, for all calls that it is about. */
export const grantSchema = lazily(() => onlyFields({ rule: ruleSchema(), scope: grantScopeSchema() }))
export type Grant = z.infer<ReturnType<typeof grantSchema>>

/** `store`: the store of rules has it, or has it no longer. */
const by = lazily(() => ({ by: z.enum(['person', 'store']), requestId: z.string().exactOptional() }))

export const permissionRecords = {
  /** A rule was added: calls that it is about run, or are denied. */
  'permission.granted': () =>
    z.object({
      ...inTurn(),
      type: z.literal('permission.granted'),
      /** Id by which it is revoked. A rule that is added again replaces the one with its id. */
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
      /** `plan`: people accepted the plan of the model. */
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
      /** Default `allow`. */
      decision: z.enum(['allow', 'deny']).exactOptional(),
      for: grantScopeSchema(),
    }),
  /** `grant`: the id of a rule that was added. */
  'agent.revoke': () => onlyFields({ ...toAgent(), type: z.literal('agent.revoke'), grant: z.string() }),
  'agent.mode': () => onlyFields({ ...toAgent(), type: z.literal('agent.mode'), mode: z.enum(permissionModes) }),
} as const

/** How a rule is added. */
export interface PermitOptions {
  /** `session`: in this log; `always`: wherever the definition is used with its store of rules. */
  readonly for: GrantScope
  /** Default `'allow'`. */
  readonly decision?: 'allow' | 'deny' | undefined
}
