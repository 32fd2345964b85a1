import { nanoid } from 'nanoid'
import { memoryStore } from '../../stores/src/memory/memoryStore.ts'
import { MemorySnapshots } from '../../stores/src/memory/memorySnapshots.ts'
import { scheduling } from '../../../src/actors/parts/schedules/scheduling.ts'
import { systemClock } from '../../../src/protocol/ports/clock.ts'
import type { RuntimeSetup } from '../../../src/runtime/runtimeSetup.ts'
import { gateOf } from './limits/gateOf.ts'
import { ModelQueue } from './limits/modelQueue.ts'
import { exportSession } from '../../sessions/src/exportSession.ts'
import { Redactor } from '../../redaction/src/redactor.ts'
import { interpretBy } from './interpreter/differenceFromXState.ts'
import { warnOfForgottenApprovals } from './forgottenApprovals.ts'
import { Instrumentation } from './instrumentation.ts'
import type { RuntimeOptions } from './runtimeOptions.ts'
import { reckoning } from './schedules/reckoning.ts'

/** Creates everything that a runtime needs from the options of an application. @throws RuntimeError `INVALID_OPTION` */
export function runtimeSetup(options: RuntimeOptions): RuntimeSetup {
  const { clock = systemClock, logger, tracer, models, modelShare, redact } = options
  Object.assign(scheduling, reckoning)
  const queue = models && new ModelQueue(models, clock, modelShare)
  return {
    store: options.store ?? memoryStore(),
    storeEnds: options.store === undefined,
    memoryStore,
    snapshots: new MemorySnapshots(),
    clock,
    random: options.random ?? Math.random,
    newId: options.newId ?? (() => nanoid(12)),
    logger,
    instrumentation: tracer === undefined && logger === undefined ? undefined : new Instrumentation({ tracer, logger }),
    redactor: redact && new Redactor(redact),
    newRedactor: () => new Redactor({ knownKeys: false }),
    idleUnloadMs: options.idleUnloadMs,
    models: queue && ((caller) => gateOf(queue, clock, caller)),
    modelTurns: options.modelTurns,
    watch: warnOfForgottenApprovals,
    exportSession,
    interpreter: interpretBy(options.interpreter ?? 'planned', logger),
  }
}
