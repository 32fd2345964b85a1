import { ModelQueue } from '../actors/models/limits/modelQueue.ts'
import { CallbackBugs } from '../protocol/callbackBugs.ts'
import { messageOf } from '../protocol/errors.ts'
import { MemorySnapshots } from '../log/stores/memorySnapshots.ts'
import { Instrumentation } from './events/instrumentation.ts'
import { Resources } from './agents/resources.ts'
import type { HostShared } from './agents/hostOptions.ts'
import type { RuntimeOptions } from './runtimeOptions.ts'

/** Returns the parts that the agents of a runtime share, from its options and its parts. */
export function hostShared(
  { tracer, logger, models, modelShare, modelTurns, random = Math.random }: RuntimeOptions,
  parts: Pick<
    HostShared,
    | 'machine'
    | 'createActor'
    | 'sources'
    | 'childHosts'
    | 'store'
    | 'isStoreOver'
    | 'clock'
    | 'unloader'
    | 'instead'
    | 'reload'
  >,
): HostShared {
  const { sources, clock } = parts
  const bugs = new CallbackBugs()
  const clean = (text: string): string => sources.redactor?.text(text) ?? text
  return {
    ...parts,
    snapshots: new MemorySnapshots(),
    resources: new Resources({ clock, logger, clean }),
    checkpointFailed: (agentId, thrown) =>
      logger?.warn({ agentId }, `a checkpoint could not be written: ${messageOf(thrown)}`),
    callbackFailed: (place, thrown, fields) => bugs.tell(place, thrown, { logger, fields, clean }),
    random,
    instrumentation: tracer === undefined && logger === undefined ? undefined : new Instrumentation({ tracer, logger }),
    models: models === undefined ? undefined : new ModelQueue(models, clock, modelShare),
    modelTurns,
  }
}
