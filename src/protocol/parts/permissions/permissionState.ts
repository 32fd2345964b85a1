import { alwaysId, type PermissionMode } from './permissionModes.ts'
import type { GrantScope } from './permissionRecords.ts'
import type { RecordDraft } from '../../records.ts'

/** A rule that people added. */
export interface GrantedRule {
  readonly id: string
  readonly rule: string
  readonly decision: 'allow' | 'deny'
  readonly scope: GrantScope
  /** `seq` of the record that added the rule. */
  readonly seq: number
  /** Set for a rule with the scope `always` until the store of rules has confirmed it. */
  readonly isNew?: true
}

/** Rules that people added to an agent's own, and the mode that they chose. */
export interface PermissionState {
  /** The chosen mode; `null` means the definition's. */
  readonly mode: PermissionMode | null
  /** The mode before `plan`. */
  readonly before: PermissionMode | null
  readonly grants: readonly GrantedRule[]
  /** Rules that a person revoked but that the store of rules may still have. */
  readonly revoked: readonly GrantedRule[]
  /** `seq` of the record that last changed this state. */
  readonly seq: number
}

/** Rules for the calls of an agent, for people. */
export interface Permissions {
  readonly mode: PermissionMode
  /** Rules of the agent's definition and of its ancestors' definitions. */
  readonly rules: { readonly [L in 'deny' | 'ask' | 'allow']: readonly string[] }
  /** Rules that people added to the agent, each with the `seq` of its record. */
  readonly grants: readonly Pick<GrantedRule, 'id' | 'rule' | 'decision' | 'scope' | 'seq'>[]
  /** True if rules with the scope `always` can be added. */
  readonly hasStore: boolean
}

type Change = Partial<PermissionState>

const without = (rules: readonly GrantedRule[], id: string): readonly GrantedRule[] =>
  rules.filter((rule) => rule.id !== id)

const granting = ({ grants, revoked }: PermissionState, grant: GrantedRule, isStored: boolean): Change => ({
  grants: [...without(grants, grant.id), grant.scope === 'always' && !isStored ? { ...grant, isNew: true } : grant],
  revoked: without(revoked, grant.id),
})

/** Returns a step that ignores foreign records, because another party's file grants nothing. */
const own =
  <R extends { readonly seq: number; readonly foreign?: true }>(
    change: (state: PermissionState, record: R) => Change,
  ) =>
  (state: PermissionState, record: R): PermissionState =>
    record.foreign === true ? state : { ...state, ...change(state, record), seq: record.seq }

type Draft<T extends RecordDraft['type']> = Extract<RecordDraft, { readonly type: T }>

/** Fold of rules and modes. Reverts do not undo them, because people set them. */
export const permissionState = {
  initial: { mode: null, before: null, grants: [], revoked: [], seq: 0 } as PermissionState,
  begins: (record: RecordDraft): boolean => record.type === 'approval.decided' && record.grant !== undefined,
  on: {
    'permission.granted': own<Draft<'permission.granted'>>((state, { id, rule, decision, scope, by, seq }) =>
      granting(state, { id, rule, decision, scope, seq }, by === 'store'),
    ),
    'permission.revoked': own<Draft<'permission.revoked'>>(({ grants, revoked }, { id, by }) => {
      const gone = by === 'person' ? grants.filter((rule) => rule.id === id && rule.scope === 'always') : []
      return { grants: without(grants, id), revoked: [...without(revoked, id), ...gone] }
    }),
    'approval.decided': (state: PermissionState, record: Draft<'approval.decided'>): PermissionState =>
      record.grant === undefined ? state : decided(state, record),
    'mode.changed': own<Draft<'mode.changed'>>((state, { mode }) => ({
      mode,
      before: mode !== 'plan' ? null : state.mode === 'plan' ? state.before : state.mode,
    })),
    'agent.created': (state: PermissionState, { forkedFrom }: Draft<'agent.created'>): PermissionState =>
      forkedFrom === undefined ? state : left(state),
  },
}

const decided = own<Draft<'approval.decided'>>((state, { key, decision: said, grant, seq }) => {
  const { rule, scope } = grant!
  const decision = said === 'approve' ? 'allow' : 'deny'
  const id = scope === 'always' ? alwaysId(decision, rule) : key
  return granting(state, { id, rule, decision, scope, seq }, false)
})

/** Returns the state for a fork, without the permissions that were granted for the session. */
const left = (state: PermissionState): PermissionState => ({
  ...state,
  mode: state.mode === 'auto' ? null : state.mode,
  grants: state.grants.filter(({ scope, decision }) => scope === 'always' || decision === 'deny'),
})
