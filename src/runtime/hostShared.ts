import { CallbackBugs } from '../protocol/callbackBugs.ts'
import { messageOf } from '../protocol/errors.ts'
import { Resources } from './agents/resources.ts'
import type { HostShared } from './agents/hostOptions.ts'
import type { RuntimeSetup } from './runtimeSetup.ts'

export function hostShared(
  { logger, snapshots, random, instrumentation, models, modelTurns, instead, exportSession }: RuntimeSetup,
  parts: Pick<
    HostShared,
    'machine' | 'createActor' | 'sources' | 'childHosts' | 'store' | 'isStoreOver' | 'clock' | 'unloader' | 'reload'
  >,
): HostShared {
  const { sources, clock } = parts
  const bugs = new CallbackBugs()
  const clean = (text: string): string => sources.redactor?.text(text) ?? text
  return {
    ...parts,
    snapshots,
    resources: new Resources({ clock, logger, clean }),
    checkpointFailed: (agentId, thrown) =>
      logger?.warn({ agentId }, `a checkpoint could not be written: ${messageOf(thrown)}`),
    callbackFailed: (place, thrown, fields) => bugs.tell(place, thrown, { logger, fields, clean }),
    random,
    instrumentation,
    models,
    modelTurns,
    instead,
    exportSession,
  }
}
