/** Facts that matter in the messages of each task, by their numbers. */
export const factsOfTask: Readonly<Record<string, Readonly<Record<number, string>>>> = {
  'one-needle': {
    4: 'From Monday on the gate of the north yard opens with the code NY_7741_KESTREL, and no longer with a key.',
  },
  'many-needles': {
    2: 'The parcel for the museum travels as shipment SHIP_MUSEUM_2051.',
    5: 'The parcel for the bakery travels as shipment SHIP_BAKERY_8816.',
    9: 'The parcel for the school travels as shipment SHIP_SCHOOL_4430.',
    12: 'The parcel for the theatre travels as shipment SHIP_THEATRE_6672.',
    15: 'The parcel for the harbour master travels as shipment SHIP_HARBOUR_1907.',
  },
  'latest-value': {
    3: 'Mooring costs 41.20 euros a night from now on (TARIFF_MOORING).',
    8: 'Correction of TARIFF_MOORING: mooring costs 43.75 euros a night, not what was said before.',
    13: 'After talks with the guests, TARIFF_MOORING was lowered: mooring costs 39.90 euros a night.',
  },
  'unusual-name': {
    6: 'The surveyor who comes on the 12th is called Siobhan Wetherbee-Okonkwo; please let her in at the side door.',
  },
  decision: {
    7: 'It is decided: the new winch comes from KORMORAN_4 and not from the cheaper firm, because only they deliver before the ice.',
  },
  'two-hops': {
    5: 'The key of locker LOCKER_0093 lies with the keeper of PIER_SOUTH_2.',
    11: 'The keeper of PIER_SOUTH_2 is Amrit Halvorsen since this month.',
  },
  'pinned-rule': { 4: 'Customer 5520, Harbourside Ltd, owes us 1234.5 euros for the crane (INVOICE_5520).' },
  'denied-call': {
    3: 'Customer Quayline has not paid its invoice: it is overdue.',
    6: 'Customer Harbourside has not paid its invoice: it is overdue.',
    14: 'Customer Saltworks has not paid its invoice: it is overdue.',
    31: 'Customer Harbourside has still not paid its invoice: it is overdue.',
  },
}
