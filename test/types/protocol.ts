import type { Clock, EventOf, Usage } from '../../src/index.ts'
import { type Equal, expectType } from './typeEquality.ts'

expectType<Equal<Usage['reasoning'], number | undefined>>()
expectType<Equal<ReturnType<Clock['after']>, () => void>>()
expectType<Equal<EventOf<'reply.delta'>['type'], 'reply.delta'>>()

// The helper itself tells apart what is easily confused.
expectType<Equal<Equal<{ a: 1 }, { readonly a: 1 }>, false>>()
expectType<Equal<Equal<{ a?: 1 }, { a: 1 | undefined }>, false>>()
expectType<Equal<Equal<unknown, string>, false>>()
// @ts-expect-error a false claim does not compile
expectType<Equal<1, 2>>()
