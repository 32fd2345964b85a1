import type { RevertCategory, TagKind } from '../braking.ts'

/** The kind of tag that each category leaves. */
export const tagKinds: { readonly [C in RevertCategory]: TagKind } = {
  failure: 'lesson',
  tangent: 'finding',
  completion: 'outcome',
  'step-summary': 'checkpoint',
}
