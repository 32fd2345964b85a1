import type { AgentDefinition } from '../../actors/define/agentDefinition.ts'
import type { TurnFrame } from '../../actors/turn/turnFrames.ts'
import type { RequestFrame } from '../../conversation/request/assembleRequest.ts'
import type { Redactor } from '../../log/redaction/redactor.ts'

/** Parts of a turn's requests beside the conversation, redacted. */
export const requestFrame = (
  { system, toolSpecs, settings }: TurnFrame,
  { braking }: AgentDefinition,
  redactor: Redactor | undefined,
): RequestFrame => ({
  system: redactor?.text(system) ?? system,
  tools: redactor?.value(toolSpecs) ?? toolSpecs,
  settings,
  ...(braking === null ? {} : { braking: braking.tags, withoutIds: !braking.showsIds }),
})
