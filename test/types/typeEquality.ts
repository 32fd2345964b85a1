/**
 * Type tests are plain `.ts` files in this folder: `tsc` checks them and nothing runs them.
 *
 *     expectType<Equal<Usage['input'], number>>()
 *     // @ts-expect-error a tool needs a description
 *     defineTool({ name: 'x', … })
 */

/** `true` when the two types are the same, `readonly` and optional keys included; `any` equals only `any`. */
export type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

/** Compiles only for `true`. */
export const expectType = <_Claim extends true>(): void => undefined
