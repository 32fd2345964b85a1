import { useMemo } from 'preact/hooks'
import {
  permissionModes,
  type PermissionMode,
} from '../../../../../../src/protocol/parts/permissions/permissionModes.ts'
import type { FollowedAgent } from '../../model/agent/followedAgent.ts'
import { peoplesRules } from '../../model/agent/peoplesRules.ts'
import type { Inspector } from '../../model/shell/inspector.ts'
import { ControlButton } from '../../parts/controlButton.tsx'

interface Props {
  readonly inspector: Inspector
  readonly view: FollowedAgent
}

const lists = ['deny', 'ask', 'allow'] as const

/** The mode of the agent, which can be changed, its rules, and the rules that people added, with their records. */
export function PermissionsPanel({ inspector, view }: Props) {
  const { permissions, records, past, at, lastSeq } = view.state.value
  const end = at ?? lastSeq
  const { mode, grants } = useMemo(() => peoplesRules(records, end, past), [records, end, past])
  if (permissions === null) return null
  const { rules } = permissions
  const why = inspector.controls.value.permit
  const agent = () => inspector.attached.value.connection.client.agent(view.agentId)
  return (
    <section class="details-part" aria-labelledby="permissions-title">
      <h2 id="permissions-title">Permissions</h2>
      <label class="permission-mode">
        Mode{' '}
        <select
          class="input"
          value={mode ?? permissions.mode}
          disabled={why !== null}
          title={why ?? undefined}
          onChange={({ currentTarget }) =>
            void inspector.attempt(() => agent().setMode(currentTarget.value as PermissionMode))
          }
        >
          {permissionModes.map((one) => (
            <option key={one} value={one}>
              {one}
            </option>
          ))}
        </select>
      </label>
      {lists.map((list) =>
        rules[list].length === 0 ? null : (
          <p class="small" key={list}>
            <span class="faint">{list}</span> <span class="mono">{rules[list].join(', ')}</span>
          </p>
        ),
      )}
      {grants.length === 0 ? null : (
        <ul class="sources" aria-label="Rules that people added">
          {grants.map(({ id, rule, decision, scope, seq }) => (
            <li key={id}>
              <p class="source">
                <span class="faint small">{decision}</span>
                <span class="mono cut grow" title={rule}>
                  {rule}
                </span>
                <span class="faint small">{scope === 'always' ? 'always' : 'this session'}</span>
                <button
                  type="button"
                  class="button quiet"
                  title="Show the moment at which it was added"
                  onClick={() => inspector.go({ at: seq })}
                >
                  #{seq}
                </button>
                <ControlButton
                  why={why}
                  kind="quiet"
                  label={`Revoke ${rule}`}
                  onUse={() => void inspector.attempt(() => agent().revoke(id))}
                >
                  Revoke
                </ControlButton>
              </p>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
