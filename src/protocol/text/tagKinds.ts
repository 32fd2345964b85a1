import type { RevertCategory, TagKind } from '../braking.ts'

/** Kind of tag that a revert of each category leaves. */
export const tagKinds: { readonly [C in RevertCategory]: TagKind } = {
  failure: 'lesson',
  tangent: 'finding',
  completion: 'outcome',
  'step-summary': 'checkpoint',
}
