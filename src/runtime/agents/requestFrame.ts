import type { AgentDefinition } from '../../actors/agentDefinition.ts'
import type { RequestFrame } from '../../conversation/assembleRequest.ts'
import type { Redactor } from '../../redaction/redactor.ts'

/** The constant parts of a definition's requests, redacted. */
export const requestFrame = (
  { system, toolSpecs, settings, braking }: AgentDefinition,
  redactor: Redactor | undefined,
): RequestFrame => ({
  system: redactor?.text(system) ?? system,
  tools: redactor?.value(toolSpecs) ?? toolSpecs,
  settings,
  ...(braking === null ? {} : { braking: braking.tags, withoutIds: !braking.showsIds }),
})
