import { takenFold } from '../../conversation/tree/takenTools.ts'
import { Folding } from '../../log/fold.ts'
import { outlineFold } from '../../log/outline.ts'
import { requestsFold } from '../../log/requestIndex.ts'
import { spentFold } from '../../log/spent.ts'
import { handoffsFold } from './handoffs.ts'

const folds = [requestsFold, outlineFold, spentFold, handoffsFold, takenFold]

/** All that an agent's host knows from its log, beside its conversation, and that its checkpoints keep. */
export class HostFolds extends Folding {
  readonly requests = this.at(requestsFold)
  readonly outline = this.at(outlineFold)
  readonly spent = this.at(spentFold)
  readonly handoffs = this.at(handoffsFold)
  readonly taken = this.at(takenFold)

  /** `kept`: the state from which its records continue. */
  constructor(kept?: ReturnType<Folding['keep']>) {
    super(folds, kept)
  }
}
