"""How rare the words of a question are among what a filter leaves, where that is little.

A name that every turn of a conversation carries says nothing within it, however rare it is elsewhere. So a
search that is filtered to one conversation answers as if there were no other.
"""

from __future__ import annotations

import apsw
import msgspec

from .question import Question
from .scope import Scope
from .statistics import idf

FEW = 5_000
"""Up to so many memories in the scope, and so many texts with a word of the question, words are counted anew."""


def within(connection: apsw.Connection, question: Question, scope: Scope) -> Question:
    """The question with its words as rare as they are in the scope; as it is where that would take long."""
    words = [term for term in question.terms if not term.bigram]
    if scope.broad or not words or sum(term.count for term in words) > FEW:
        return question
    [(rows,)] = connection.execute(
        f"SELECT count(*) FROM (SELECT 1 FROM memories m WHERE {scope.where} LIMIT {FEW + 1})", scope.bindings
    )
    if not 0 < rows <= FEW:
        return question
    table = question.index.table
    counted = f"""
        SELECT count(*) FROM {table} CROSS JOIN memories m ON m.rid = {table}.rowid
        WHERE {table} MATCH :match AND {scope.where}
    """
    terms = []
    for term in question.terms:
        if not term.bigram:
            [(count,)] = connection.execute(counted, {**scope.bindings, "match": f'"{term.word}"'})
            term = msgspec.structs.replace(term, idf=idf(count, rows))
        terms.append(term)
    return msgspec.structs.replace(question, terms=tuple(terms), most=sum(term.idf for term in terms))
