import type { SessionModeState } from '@agentclientprotocol/sdk'
import { RuntimeError } from '../../../src/protocol/errors.ts'
import { permissionModes, type PermissionMode } from '../../../src/protocol/parts/permissions/permissionModes.ts'
import type { DrivenAgent } from '../../bridge/src/server/drivenAgent.ts'

const words: { readonly [M in PermissionMode]: string } = {
  ask: 'Asks where a tool or a rule says so.',
  edits: 'Asks, but not about what can be undone.',
  plan: 'Runs only what changes nothing, and shows a plan.',
  auto: 'Asks nobody.',
  refuse: 'Denies what it would ask about.',
}

/** Returns the modes of a session, for the answer that opens it; nothing for an agent whose calls no rules decide about. */
export function modesOf(
  agent: DrivenAgent,
  may: (right: 'control' | 'permit') => boolean,
): { readonly modes?: SessionModeState } {
  const permissions = agent.permissions?.() ?? null
  if (permissions === null || !may('control')) return {}
  const offered = permissionModes.filter((mode) => mode !== 'auto' || mode === permissions.mode || may('permit'))
  return {
    modes: {
      currentModeId: permissions.mode,
      availableModes: offered.map((mode) => ({ id: mode, name: mode, description: words[mode] })),
    },
  }
}

/** @throws RuntimeError `INVALID_OPTION` */
export function modeIn(modeId: string): PermissionMode {
  const mode = permissionModes.find((one) => one === modeId)
  if (mode !== undefined) return mode
  throw new RuntimeError(
    'INVALID_OPTION',
    `There is no mode ${JSON.stringify(modeId)}, only ${permissionModes.join(', ')}.`,
  )
}
